package wav_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp/wav"
)

// odd is a file of a kind that occurs, or that someone might send, and what
// becomes of it. A file without an error holds the first n samples of the tone.
type odd struct {
	name      string
	file      []byte
	n         int     // samples of each channel
	channels  int     // 0 means 1
	step      float64 // quantisation step; 0 means that of 16 bits
	truncated bool
	broken    bool // FormatError
	refused   bool // UnsupportedError
}

func oddFiles() []odd { return slices.Concat(wholeFiles(), knownOddFiles(), moreOddFiles()) }

// n is how many samples a file has that nothing is missing of.
const n = toneSamples

// step is the distance of two values of so many bits.
func step(bits int) float64 { return 1 / float64(int64(1)<<(bits-1)) }

// fmt16, data16 and list are the chunks of most files.
func fmt16() []byte  { return format(1, 1, 16) }
func data16() []byte { return pcm(16, 1) }
func list() []byte {
	return chunk("LIST", append([]byte("INFOISFT\x0e\x00\x00\x00"), "Lavf58.29.100\x00"...))
}

// with is a file of the format.
func with(f fmtFields, data []byte) []byte {
	return riff(chunk("fmt ", f.bytes(binary.LittleEndian)), chunk("data", data))
}

// wholeFiles are ordinary files of the integer formats.
func wholeFiles() []odd {
	var files []odd
	for _, bits := range []int{8, 16, 24, 32} {
		for channels := 1; channels <= 2; channels++ {
			files = append(files, odd{
				name: fmt.Sprintf("pcm%d of %d", bits, channels),
				file: riff(format(1, channels, bits), chunk("data", pcm(bits, channels))),
				n:    n, channels: channels, step: step(bits),
			})
		}
	}
	return files
}

// knownOddFiles are the kinds that are known to trip decoders.
func knownOddFiles() []odd {
	fmt16, data16, list := fmt16(), data16(), list()
	whole := riff(fmt16, chunk("data", data16))
	return []odd{
		{name: "float32", file: riff(format(3, 1, 32), chunk("data", float32s(tone()...))), n: n, step: step(24)},
		{name: "float64", file: riff(format(3, 1, 64), chunk("data", float64s(tone()...))), n: n, step: step(53)},
		{name: "extensible pcm16", file: riff(extensible(1, 1, 16), chunk("data", data16)), n: n},
		{name: "extensible pcm24 stereo", file: riff(extensible(1, 2, 24), chunk("data", pcm(24, 2))), n: n, channels: 2, step: step(24)},
		{name: "extensible float32", file: riff(extensible(3, 1, 32), chunk("data", float32s(tone()...))), n: n, step: step(24)},
		{name: "fmt of 18 bytes", file: with(fmtFields{tag: 1, channels: 1, rate: toneRate, bits: 16, extra: []byte{0, 0}}, data16), n: n},
		{name: "LIST before data", file: riff(fmt16, list, chunk("data", data16)), n: n},
		{name: "odd chunk before data", file: riff(fmt16, chunk("junk", []byte("abc")), chunk("data", data16)), n: n},
		{name: "odd chunk without pad", file: riff(fmt16, sized("junk", 3, []byte("abc")), chunk("data", data16)), n: n},
		{name: "junk before fmt", file: riff(chunk("JUNK", make([]byte, 28)), fmt16, chunk("data", data16)), n: n},
		{name: "big bext and fact", file: riff(chunk("bext", make([]byte, 602)), fmt16, chunk("fact", []byte{0xe8, 3, 0, 0}), chunk("data", data16)), n: n},
		{name: "LIST after data", file: riff(fmt16, chunk("data", data16), list), n: n},
		{name: "odd number of 8-bit samples", file: riff(format(1, 1, 8), chunk("data", pcm(8, 1)[:999])), n: 999, step: step(8)},
		{name: "truncated data", file: whole[:len(whole)-501], n: 749, truncated: true}, // 1499 of 2000 bytes
		{name: "truncated header", file: whole[:30], broken: true},
		{name: "empty file", broken: true},
		{name: "RIFF header only", file: whole[:12], broken: true},
		{name: "no samples", file: riff(fmt16, chunk("data", nil)), n: 0},
		{name: "size FFFFFFFF", file: riffSized("RIFF", math.MaxUint32, fmt16, sized("data", math.MaxUint32, data16)), n: n},
		{name: "size 0", file: riffSized("RIFF", 0, fmt16, sized("data", 0, data16)), n: n},
		{name: "size 7FFFF000", file: riffSized("RIFF", 0x7FFFF024, fmt16, sized("data", 0x7FFFF000, data16)), n: n},
		{name: "RF64", file: rf64("RF64", 2*n), n: n},
		{name: "RIFX", file: rifx(), n: n},
		{name: "data before fmt", file: riff(chunk("data", data16), fmt16), broken: true},
		{name: "two data chunks", file: riff(fmt16, chunk("data", data16[:1000]), chunk("data", data16[1000:])), n: 500},
		{name: "RIFF size too small", file: riffSized("RIFF", 36, fmt16, chunk("data", data16)), n: n},
		{name: "trailing garbage", file: append(bytes.Clone(whole), bytes.Repeat([]byte{0xde, 0xad, 0xbe, 0xef}, 10)...), n: n},
		{name: "0 channels", file: with(fmtFields{tag: 1, rate: toneRate, bits: 16}, data16), broken: true},
		{name: "0 bits", file: with(fmtFields{tag: 1, channels: 1, rate: toneRate}, data16), broken: true},
		{name: "12 bits", file: with(fmtFields{tag: 1, channels: 1, rate: toneRate, bits: 12, align: 2}, data16), refused: true},
		{name: "rate 0", file: with(fmtFields{tag: 1, channels: 1, bits: 16}, data16), broken: true},
		{name: "65535 channels", file: with(fmtFields{tag: 1, channels: 65535, rate: toneRate, bits: 16, align: 2}, data16), refused: true},
		{name: "rate 7FFFFFFF", file: with(fmtFields{tag: 1, channels: 1, rate: math.MaxInt32, bits: 16}, data16), refused: true},
		{name: "fmt size 7FFFFFF0", file: riff(sized("fmt ", 0x7FFFFFF0, fmt16[8:]), chunk("data", data16)), broken: true},
		{name: "fmt size FFFFFFFF", file: riff(sized("fmt ", math.MaxUint32, fmt16[8:]), chunk("data", data16)), broken: true},
		{name: "LIST size 7FFFFFFF", file: riff(fmt16, sized("LIST", math.MaxInt32, []byte("INFO")), chunk("data", data16)), broken: true},
		{name: "junk size 7FFFFFFF", file: riff(fmt16, sized("junk", math.MaxInt32, []byte("xxxx")), chunk("data", data16)), broken: true},
		{name: "µ-law", file: with(fmtFields{tag: 7, channels: 1, rate: toneRate, bits: 8, extra: []byte{0, 0}}, pcm(8, 1)), refused: true},
		{name: "ADPCM", file: with(fmtFields{tag: 2, channels: 1, rate: toneRate, bits: 4, align: 1024, extra: []byte{0, 0}}, pcm(8, 1)), refused: true},
		{name: "200000 empty chunks", file: riff(bytes.Repeat(chunk("junk", nil), 200000), fmt16, chunk("data", data16)), n: n},
		{name: "NaN and Inf", file: riff(format(3, 1, 32), chunk("data", float32s(math.NaN(), math.Inf(1), math.Inf(-1), 2))), broken: true},
	}
}

// moreOddFiles are the kinds that this decoder has branches of its own for.
func moreOddFiles() []odd {
	fmt16, data16, list := fmt16(), data16(), list()
	return []odd{
		{name: "A-law", file: with(fmtFields{tag: 6, channels: 1, rate: toneRate, bits: 8}, pcm(8, 1)), refused: true},
		{name: "16-bit float", file: riff(format(3, 1, 16), chunk("data", data16)), refused: true},
		{name: "wrong block align", file: with(fmtFields{tag: 1, channels: 1, rate: toneRate, bits: 16, align: 4}, data16), broken: true},
		{name: "extensible without its fields", file: with(fmtFields{tag: 0xFFFE, channels: 1, rate: toneRate, bits: 16}, data16), broken: true},
		{name: "extensible A-law", file: riff(extensible(6, 1, 8), chunk("data", pcm(8, 1))), refused: true},
		{name: "two fmt chunks", file: riff(fmt16, fmt16, chunk("data", data16)), broken: true},
		{name: "fmt of 4 bytes", file: riff(chunk("fmt ", []byte{1, 0, 1, 0}), chunk("data", data16)), broken: true},
		{name: "no samples, LIST after", file: riff(fmt16, chunk("data", nil), list), n: 0},
		{name: "size 0 that was never filled in", file: riffSized("RIFF", 36, fmt16, sized("data", 0, data16)), n: n},
		{name: "size of SoX for 24-bit stereo", file: riff(format(1, 2, 24), sized("data", 0x7FFFF000/6*6, pcm(24, 2))), n: n, channels: 2, step: step(24)},
		{name: "odd pad that is not zero", file: riff(fmt16, sized("junk", 3, []byte("abcX")), chunk("data", data16)), n: n},
		{name: "BW64", file: rf64("BW64", 2*n), n: n},
		{name: "RF64 truncated", file: rf64("RF64", 2*n+1000), n: n, truncated: true},
		{name: "RF64 of unknown size", file: rf64("RF64", math.MaxUint64), n: n},
		{name: "RF64 of size 0", file: rf64("RF64", 0), n: n},
		{name: "AVI", file: append([]byte("RIFF\x10\x00\x00\x00AVI "), data16...), broken: true},
		{name: "FLAC", file: append([]byte("fLaC"), data16...), refused: true},
		{name: "text", file: []byte("path,label\nalice.wav,1\n"), broken: true},
		{name: "noise between chunks", file: riff(fmt16, bytes.Repeat([]byte{0xff, 0x00}, 50), chunk("data", data16)), broken: true},
	}
}

func TestOddFiles(t *testing.T) {
	for _, o := range oddFiles() {
		t.Run(o.name, func(t *testing.T) {
			channels := max(o.channels, 1)
			for c := 1; c <= channels; c++ {
				a, err := wav.Decode(bytes.NewReader(o.file), &wav.DecodeOptions{Channel: c})
				var broken wav.FormatError
				var refused wav.UnsupportedError
				if errors.As(err, &broken) != o.broken || errors.As(err, &refused) != o.refused {
					t.Fatalf("got error %v, want broken %t, refused %t", err, o.broken, o.refused)
				}
				if o.broken || o.refused {
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				checkTone(t, a, o, c)

				// The same from a reader of unknown length.
				a, err = wav.Decode(struct{ io.Reader }{bytes.NewReader(o.file)}, &wav.DecodeOptions{Channel: c})
				if err != nil {
					t.Fatal(err)
				}
				checkTone(t, a, o, c)
			}
		})
	}
}

func checkTone(t *testing.T, a *wav.Audio, o odd, channel int) {
	t.Helper()
	if a.SampleRate != toneRate || a.Channels != max(o.channels, 1) {
		t.Errorf("got format %v, want %d Hz, %d channels", a.Format, toneRate, max(o.channels, 1))
	}
	if a.Truncated != o.truncated {
		t.Errorf("got truncated %t, want %t", a.Truncated, o.truncated)
	}
	if len(a.Samples) != o.n {
		t.Fatalf("got %d samples, want %d", len(a.Samples), o.n)
	}
	step := o.step
	if step == 0 {
		step = 1. / (1 << 15)
	}
	// Half a step of rounding, and up to half a step because the files were
	// written with a full scale of 2^(b−1) − 1.
	tolerance := step
	for i, want := range tone()[:o.n] {
		if channel == 2 {
			want = -want
		}
		if math.Abs(a.Samples[i]-want) > tolerance {
			t.Fatalf("sample %d: got %v, want %v within %v", i, a.Samples[i], want, tolerance)
		}
	}
}
