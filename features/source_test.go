package features_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/features"
)

// reopened opens file again and again.
func reopened(file []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file)), nil }
}

// A recording that is read in blocks has the features of the same samples in memory,
// from a file that is read again, from one that is kept, and from a pipe.
func TestMeasureSourceEqualsMeasure(t *testing.T) {
	const most = 1e-12 // relative: rounding
	for _, name := range []string{"spoken_en.wav", "voice_16k_en.wav"} {
		file, err := os.ReadFile(filepath.Join("..", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		long := append([]byte(nil), file...)
		for len(long) < 4<<20+1 && name == "spoken_en.wav" { // more than is kept
			long = append(long, file[44:]...)
		}
		copy(long[40:], []byte{0xff, 0xff, 0xff, 0xff}) // the samples reach to the end
		for what, file := range map[string][]byte{"short": file, "long": long} {
			if what == "short" && name == "spoken_en.wav" {
				continue // voice_16k_en.wav is
			}
			c, err := features.ReadChannel(t.Context(), bytes.NewReader(file), 0, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			want := features.NewMeasurer().Measure(c).Features
			again, err := features.OpenSource(t.Context(), reopened(file), 0, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			pipe, err := features.ReadSource(t.Context(), io.MultiReader(bytes.NewReader(file)), 0, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			memory, err := features.NewSource(c, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			m := features.NewMeasurer()
			for from, src := range map[string]*features.Source{"file": again, "pipe": pipe, "memory": memory} {
				got, err := m.MeasureSource(src)
				if err != nil {
					t.Fatalf("%s %s, %s: %v", what, name, from, err)
				}
				for i, w := range want.Values {
					g := got.Features.Values[i]
					if math.IsNaN(g) != math.IsNaN(w) || math.Abs(g-w) > most*math.Abs(w) {
						feature, _ := want.Schema.Feature(i)
						t.Errorf("%s %s, %s: %s: got %v, want %v", what, name, from, feature, g, w)
					}
				}
				if src.Len() != len(c.Samples) || src.Rate() != c.Rate || src.Partial() || src.Truncated() != c.Truncated {
					t.Errorf("%s %s, %s: got %d samples at %d Hz, want %d at %d", what, name, from, src.Len(), src.Rate(), len(c.Samples), c.Rate)
				}
			}
		}
	}
}

func TestOpenSourceStopsAtItsLimit(t *testing.T) {
	file := append(streamHeader(8000, 2), make([]byte, 4*3*8000)...)
	for most, partial := range map[time.Duration]bool{time.Second: true, 3 * time.Second: false, time.Hour: false} {
		src, err := features.OpenSource(t.Context(), reopened(file), 2, most)
		if err != nil {
			t.Fatal(err)
		}
		if want := min(int(most.Seconds()), 3) * 8000; src.Len() != want || src.Partial() != partial {
			t.Errorf("%v: got %d samples, partial %t, want %d, %t", most, src.Len(), src.Partial(), want, partial)
		}
	}
}

func TestOpenSourceRefuses(t *testing.T) {
	broken := errors.New("broken")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file := append(streamHeader(8000, 1), 0, 0)
	for name, open := range map[string]func() error{
		"no file": func() error {
			_, err := features.OpenSource(t.Context(), func() (io.ReadCloser, error) { return nil, broken }, 0, 0)
			return wants(err, errors.Is(err, broken))
		},
		"a done context": func() error {
			_, err := features.OpenSource(ctx, reopened(file), 0, 0)
			return wants(err, errors.Is(err, context.Canceled))
		},
		"no samples": func() error {
			_, err := features.OpenSource(t.Context(), reopened(streamHeader(8000, 1)), 0, 0)
			return wants(err, unsuitable(err))
		},
		"a low rate": func() error {
			_, err := features.ReadSource(t.Context(), bytes.NewReader(append(streamHeader(4000, 1), 0, 0)), 0, 0)
			return wants(err, unsuitable(err))
		},
		"a channel that is not there": func() error {
			_, err := features.OpenSource(t.Context(), reopened(file), 2, 0)
			return wants(err, unsuitable(err))
		},
	} {
		if err := open(); err != nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// wants returns err, or an error if there is none, unless ok.
func wants(err error, ok bool) error {
	if ok {
		return nil
	}
	if err == nil {
		return errors.New("no error")
	}
	return err
}

// The memory of an analysis grows with the tracks, not with the samples.
func TestMeasureSourceMemory(t *testing.T) {
	const (
		seconds  = 60
		most     = 200 * 100 * seconds // bytes: 200 for each frame of 10 ms; the samples are 21 MB
		constant = 12 << 20            // the window of samples, those that are kept, and scratch
	)
	file := append(streamHeader(44100, 1), make([]byte, 2*44100*seconds)...)
	for i := 44; i < len(file); i += 2 {
		n := i / 2
		v := int16(8000*math.Sin(2*math.Pi*140/44100*float64(n)) + float64(n*7919%211))
		file[i], file[i+1] = byte(v), byte(v>>8)
	}
	m := features.NewMeasurer()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	src, err := features.OpenSource(t.Context(), reopened(file), 0, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.MeasureSource(src); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	got := after.TotalAlloc - before.TotalAlloc
	t.Logf("%.1f MiB for %d s", float64(got)/(1<<20), seconds)
	if got > most+constant {
		t.Errorf("got %d bytes allocated, want %d at most", got, most+constant)
	}
}
