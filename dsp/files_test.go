package dsp_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/go-audio/wav"
)

// readWAV returns the 16-bit samples of a mono file divided by full, and their
// rate in Hz.
func readWAV(t testing.TB, file string, full float64) (x []float64, sr int) {
	t.Helper()
	b, err := os.ReadFile(file) // the decoder would read each sample from the file
	if err != nil {
		t.Fatal(err)
	}
	buf, err := wav.NewDecoder(bytes.NewReader(b)).FullPCMBuffer()
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if buf.Format.NumChannels != 1 || buf.SourceBitDepth != 16 {
		t.Fatalf("%s: got %d channels of %d bits, want mono 16", file, buf.Format.NumChannels, buf.SourceBitDepth)
	}
	x = make([]float64, len(buf.Data))
	for i, v := range buf.Data {
		x[i] = float64(v) / full
	}
	return x, buf.Format.SampleRate
}
