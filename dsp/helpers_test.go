package dsp_test

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
)

func noise(seed uint64, n int) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, n)
	for i := range x {
		x[i] = r.Float64()*2 - 1
	}
	return x
}

func norm(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v * v
	}
	return math.Sqrt(s)
}

// slowDFT is the definition.
func slowDFT(x []float64) []complex128 {
	n := len(x)
	c := make([]complex128, n/2+1)
	for k := range c {
		for j, v := range x {
			c[k] += complex(v, 0) * cmplx.Rect(1, -2*math.Pi*float64(j*k%n)/float64(n))
		}
	}
	return c
}

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

func sine(n int, f, sr, phase float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Sin(2*math.Pi*math.Mod(f*float64(i)/sr, 1) + phase)
	}
	return x
}

func scaled(x []float64, g float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = g * v
	}
	return y
}

// reportAudio reports how many seconds of audio a benchmark handled per second,
// for passes over a signal of n samples at SampleRate.
func reportAudio(b *testing.B, n int) {
	audio := float64(n) / dsp.SampleRate * float64(b.N)
	b.ReportMetric(audio/b.Elapsed().Seconds(), "audio_s/s")
	b.ReportMetric(1e3*b.Elapsed().Seconds()/audio, "ms/audio_s")
}

// reportSpeed reports the speed of a benchmark that handles n samples a round.
func reportSpeed(b *testing.B, n int) {
	seconds := float64(n) / dsp.SampleRate * float64(b.N)
	b.ReportMetric(seconds/b.Elapsed().Seconds(), "s/s")
	b.ReportMetric(1e3*b.Elapsed().Seconds()/seconds, "ms/s")
}

// meanOf is the mean of what is not NaN.
func meanOf(v []float64) float64 {
	var s float64
	var n int
	for _, x := range v {
		if !math.IsNaN(x) {
			s += x
			n++
		}
	}
	return s / float64(n)
}

func medianOf(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}
