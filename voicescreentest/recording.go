package voicescreentest

import (
	"bytes"
	"encoding/binary"
	"math"
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
	var parts []signals.Part
	for t := 0.0; t < seconds; {
		for _, p := range phrase {
			parts = append(parts, p)
			t += p.Duration
		}
	}
	return signals.Sequence(rate, parts, 1)
}

// encode returns samples within [-1, 1] as a WAV file.
func encode(samples []float64) []byte {
	var b bytes.Buffer
	size := uint32(2 * len(samples))
	header := []any{
		[4]byte{'R', 'I', 'F', 'F'}, 36 + size, [8]byte{'W', 'A', 'V', 'E', 'f', 'm', 't', ' '}, uint32(16),
		uint16(1), uint16(1), uint32(rate), uint32(2 * rate), uint16(2), uint16(16), // PCM, mono, bytes a second, bytes a sample, bits
		[4]byte{'d', 'a', 't', 'a'}, size,
	}
	for _, field := range header {
		_ = binary.Write(&b, binary.LittleEndian, field) // a buffer takes everything
	}
	for _, x := range samples {
		_ = binary.Write(&b, binary.LittleEndian, int16(math.Round(math.MaxInt16*min(max(x, -1), 1))))
	}
	return b.Bytes()
}
