package features_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/features"
)

// features of a Source, as bits.
func featureBits(t *testing.T, src *features.Source) []uint64 {
	t.Helper()
	got, err := features.NewMeasurer().MeasureSource(src)
	if err != nil {
		t.Fatal(err)
	}
	var bits []uint64
	for _, v := range got.Features.Values {
		bits = append(bits, math.Float64bits(v))
	}
	return bits
}

// A Recorder gives the bits of a file with the same samples, whatever the blocks, the
// number of their bits, and samples that are no numbers.
func TestRecorderEqualsAFile(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for name, round := range map[string]func(float64) float64{
		"16 bits": func(v float64) float64 { return math.Round(v*(1<<15)) / (1 << 15) },
		"single":  func(v float64) float64 { return float64(float32(v)) },
		"double":  func(v float64) float64 { return v },
		"odd":     func(v float64) float64 { return [...]float64{v, math.NaN(), 1e300}[r.IntN(1000)/998*(1+r.IntN(2))] },
	} {
		x := make([]float64, 8000+137)
		for i := range x {
			x[i] = round(0.3*math.Sin(float64(i)*math.Pi*2*120/8000) + 0.01*r.NormFloat64())
		}
		file, err := features.NewSource(&features.Channel{Samples: x, Rate: 8000}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := features.NewRecorder(8000, time.Hour, false)
		if err != nil {
			t.Fatal(err)
		}
		for rest := x; len(rest) > 0; {
			n := min(r.IntN(6000), len(rest))
			block := append([]float64(nil), rest[:n]...)
			if got := rec.Write(block); got != n {
				t.Fatalf("%s: got %d samples taken, want %d", name, got, n)
			}
			clear(block) // is not kept
			rest = rest[n:]
		}
		src, err := rec.Source(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, want := featureBits(t, src), featureBits(t, file)
		for i := range want {
			if got[i] != want[i] {
				feature, _ := features.VoiceSchema().Feature(i)
				t.Errorf("%s: %s: got %v, want %v", name, feature, math.Float64frombits(got[i]), math.Float64frombits(want[i]))
			}
		}
		if src.Len() != len(x) || src.Rate() != 8000 || src.Partial() || src.Lossy() || src.Truncated() {
			t.Errorf("%s: got %d samples at %d Hz, want %d at 8000", name, src.Len(), src.Rate(), len(x))
		}
	}
}

func TestRecorderStopsAtItsLimit(t *testing.T) {
	for _, c := range []struct {
		written, taken int
		partial        bool
	}{{8000, 8000, false}, {8001, 8000, true}, {0, 0, false}} {
		rec, err := features.NewRecorder(8000, time.Second, true)
		if err != nil {
			t.Fatal(err)
		}
		taken := 0
		for at := 0; at < c.written; at += 3000 {
			taken += rec.Write(make([]float64, min(3000, c.written-at)))
		}
		src, err := rec.Source(t.Context())
		if c.written == 0 {
			var unsuitable features.UnsuitableError
			if !errors.As(err, &unsuitable) {
				t.Errorf("no samples: got %v, want an UnsuitableError", err)
			}
			continue
		}
		if err != nil || taken != c.taken || src.Len() != c.taken || src.Partial() != c.partial || !src.Lossy() {
			t.Errorf("%d samples: got %d, %d kept, partial %v, error %v", c.written, taken, src.Len(), src.Partial(), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if src, err = rec.Source(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := src.Read(make([]float64, 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that the context is done", err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic of a write after the end")
				}
			}()
			rec.Write(nil)
		}()
	}
	for _, rate := range []int{7999, 192001} {
		var unsuitable features.UnsuitableError
		if _, err := features.NewRecorder(rate, time.Second, false); !errors.As(err, &unsuitable) {
			t.Errorf("%d Hz: got %v, want an UnsuitableError", rate, err)
		}
	}
}
