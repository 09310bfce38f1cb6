package wav_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/dsp/wav"
)

// outcome reads all samples of a file with next, and returns how many there are, the
// error and whether the file is truncated.
func outcome(file []byte, next func(r *wav.Reader) (int, error)) string {
	r, err := wav.NewAnyReader(bytes.NewReader(file))
	if err != nil {
		return err.Error()
	}
	samples := 0
	for range 2*len(file) + 2 { // samples of IMA ADPCM have 4 bits
		n, err := next(r)
		samples += n
		if err != nil {
			return fmt.Sprint(samples, err, err == io.EOF && r.Truncated())
		}
	}
	return "no end"
}

// Discard finds as many samples as Read, and the same faults, in each kind of file and
// wherever it breaks off.
func TestDiscardIsReadWithoutSamples(t *testing.T) {
	files := map[string][]byte{
		"not a number": riff(format(3, 1, 32), chunk("data", float32s(0, 0.5, math.NaN(), 0))),
		"too large":    riff(format(3, 1, 64), chunk("data", float64s(0, 1e300))),
		"A-law":        anyFile(6, 1, 1, 8, 1036, 1000, bytes.Repeat([]byte{0x55, 0x2a}, 500)),
		"IMA ADPCM":    anyFile(17, 1, 256, 4, 4*256+36, 4*256, make([]byte, 4*256)),
	}
	for _, bits := range []int{8, 16, 24, 32} {
		files[fmt.Sprint(bits, " bits")] = riff(format(1, 2, bits), chunk("data", pcm(bits, 2)))
	}
	for _, o := range oddFiles() {
		files[o.name] = o.file
	}
	dst := make([]float64, 512)
	for name, file := range files {
		for _, end := range []int{len(file), len(file) - 1, len(file) - 3, len(file) / 2, 46} {
			part := file[:max(0, min(end, len(file)))]
			for n := 1; n <= len(dst); n *= 8 {
				want := outcome(part, func(r *wav.Reader) (int, error) { return r.Read(dst[:n]) })
				if got := outcome(part, func(r *wav.Reader) (int, error) { return r.Discard(n) }); got != want {
					t.Errorf("%s, %d bytes, %d at a time: got %s, want %s", name, end, n, got, want)
				}
			}
		}
	}
}

func BenchmarkDiscard(b *testing.B) {
	const seconds = 60
	file := riff(format(1, 1, 16), chunk("data", bytes.Repeat([]byte{0x12, 0x34, 0xf0, 0xff}, seconds*toneRate/2)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := wav.NewReader(bytes.NewReader(file))
		for err == nil {
			_, err = r.Discard(4096)
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
	b.ReportMetric(seconds*float64(b.N)/b.Elapsed().Seconds(), "audio-s/s")
}
