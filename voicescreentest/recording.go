package voicescreentest

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// rate is the sample rate of the recordings in Hz, which the HTTP service asks for.
const rate = 44100

// Recording returns a WAV file, mono at 44.1 kHz in 16 bits, of 36 s of which more
// than 30 are speech for the engine: each product accepts it. It is made of tones
// and noise, not of a voice: the scores of a real model mean nothing.
// It is always the same. The caller may change it.
func Recording() []byte { return bytes.Clone(long()) }

// ShortRecording is a Recording of 5 s: enough for the deepfake product, and too
// short for depression and anxiety, which fail with screen.CodeAudioLength.
func ShortRecording() []byte { return bytes.Clone(short()) }

var (
	long  = sync.OnceValue(func() []byte { return encode(speech(36)) })
	short = sync.OnceValue(func() []byte { return encode(speech(5)) })
)

// phrase is what speech repeats: tones that rise and fall as a voice does, noise as
// of fricatives, and short pauses.
var phrase = []signals.Part{
	{Kind: signals.Voiced, Duration: 0.45, F0: 120, F1: 145}, {Kind: signals.Unvoiced, Duration: 0.08},
	{Kind: signals.Voiced, Duration: 0.40, F0: 150, F1: 115}, {Kind: signals.Unvoiced, Duration: 0.06},
	{Kind: signals.Voiced, Duration: 0.50, F0: 125, F1: 105}, {Kind: signals.Silence, Duration: 0.12},
}

// speech returns so many seconds of it, and a little more up to the end of a phrase.
func speech(seconds float64) []float64 {
	once := signals.Sequence(rate, phrase, 1)
	n := int(math.Ceil(seconds * rate / float64(len(once))))
	return slices.Repeat(once, n)
}

// encode returns samples within [-1, 1] as a WAV file.
func encode(samples []float64) []byte {
	const perSample = 2 // bytes
	le, size := binary.LittleEndian, uint32(perSample*len(samples))
	b := make([]byte, 0, 44+size)
	b = le.AppendUint32(append(b, "RIFF"...), 36+size)
	b = le.AppendUint32(append(b, "WAVEfmt "...), 16)
	b = le.AppendUint16(b, 1) // PCM
	b = le.AppendUint16(b, 1) // channel
	b = le.AppendUint32(b, rate)
	b = le.AppendUint32(b, perSample*rate)
	b = le.AppendUint16(b, perSample)
	b = le.AppendUint16(b, 8*perSample)
	b = le.AppendUint32(append(b, "data"...), size)
	for _, x := range samples {
		b = le.AppendUint16(b, uint16(int16(math.Round(math.MaxInt16*min(max(x, -1), 1)))))
	}
	return b
}
