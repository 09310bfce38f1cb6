package dsp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-audio/wav"
)

// sharedFile returns the path of a file of the reference material beside the
// repository, and skips the test where that is absent.
func sharedFile(t testing.TB, name string) string {
	t.Helper()
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for {
		file := filepath.Join(dir, "shared", filepath.FromSlash(name))
		if _, err := os.Stat(file); err == nil {
			return file
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Skipf("needs ../shared/%s beside the repository", name)
		}
		dir = parent
	}
}

// readJSON decodes a file.
func readJSON(t testing.TB, file string, v any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// readWAV returns the 16-bit samples of a mono file divided by full, and their
// rate in Hz.
func readWAV(t testing.TB, file string, full float64) (x []float64, sr int) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	buf, err := wav.NewDecoder(f).FullPCMBuffer()
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
