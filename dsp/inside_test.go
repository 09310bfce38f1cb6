package dsp

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The helpers of the tests inside the package. The tests outside have their own, in
// helpers_test.go: the two packages share no unexported names.

// noise returns n uniform numbers in [-1, 1), the same for the same seed.

func noise(seed uint64, n int) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, n)
	for i := range x {
		x[i] = r.Float64()*2 - 1
	}
	return x
}

// norm is the Euclidean norm of x.
func norm(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v * v
	}
	return math.Sqrt(s)
}

// closeTo reports whether got is within the tolerance of want, relative to it or,
// below 1, absolute.
func closeTo(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*math.Max(1, math.Abs(want))
}

func compare(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !closeTo(got[i], want[i], tolerance) {
			t.Errorf("%s: got [%d] = %v, want %v", what, i, got[i], want[i])
		}
	}
}

// reportAudio reports how many seconds of audio a benchmark handled per second,
// for passes over a signal of n samples at SampleRate.
func reportAudio(b *testing.B, n int) {
	audio := float64(n) / SampleRate * float64(b.N)
	b.ReportMetric(audio/b.Elapsed().Seconds(), "audio_s/s")
	b.ReportMetric(1e3*b.Elapsed().Seconds()/audio, "ms/audio_s")
}
