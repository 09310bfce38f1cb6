package shipped_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
)

// TestDeepfakeReusesItsMemory scores 55 s, fourteen segments, at the rate of the
// engine and at one that is resampled first. What remains is the result: the
// score, its segments, contributions and cautions.
func TestDeepfakeReusesItsMemory(t *testing.T) {
	const (
		most      = 50       // allocations of one call
		mostBytes = 32 << 10 // and their size: twenty contributions are 1 KB
		runs      = 1
	)
	x := fiftyFiveSeconds(t)
	for _, rate := range []int{dsp.SampleRate, 48000} {
		s, in := deepfake(t), &features.Recording{Samples: x, Native: x, NativeRate: rate}
		score := func() {
			if _, err := s.Score(context.Background(), in); err != nil {
				t.Fatal(err)
			}
		}
		score() // the scratch memory is made
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := testing.AllocsPerRun(runs, score)
		runtime.ReadMemStats(&after)
		bytes := (after.TotalAlloc - before.TotalAlloc) / (runs + 1) // it runs once more first
		t.Logf("%d Hz: %v allocations, %d bytes", rate, got, bytes)
		if got > most || bytes > mostBytes {
			t.Errorf("%d Hz: got %v allocations and %d bytes, want %d and %d at most", rate, got, bytes, most, mostBytes)
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
