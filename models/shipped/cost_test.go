package shipped_test

import (
	"context"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

// TestDeepfakeReusesItsMemory scores 55 s, fourteen segments, at the rate of the
// engine and at one that is resampled first. What remains is the result: the
// score, its segments, contributions and cautions.
func TestDeepfakeReusesItsMemory(t *testing.T) {
	const (
		most      = 50       // allocations of one call
		mostBytes = 32 << 10 // and their size: twenty contributions are 1 KB
	)
	x := fiftyFiveSeconds(t)
	for _, rate := range []int{dsp.SampleRate, 48000} {
		s, in := deepfake(t), &features.Recording{Samples: x, Native: x, NativeRate: rate}
		got, bytes := cost.Memory(most, mostBytes, func() {
			if _, err := s.Score(context.Background(), in); err != nil {
				t.Fatal(err)
			}
		})
		t.Logf("%d Hz: %d allocations, %d bytes", rate, got, bytes)
		if got > most || bytes > mostBytes {
			t.Errorf("%d Hz: got %d allocations and %d bytes, want %d and %d at most", rate, got, bytes, most, mostBytes)
		}
	}
}

// fiftyFiveSeconds repeats the recording of [speech].
func fiftyFiveSeconds(t testing.TB) []float64 {
	voice := speech(t)
	x := make([]float64, 55*dsp.SampleRate)
	for n := 0; n < len(x); {
		n += copy(x[n:], voice)
	}
	return x
}
