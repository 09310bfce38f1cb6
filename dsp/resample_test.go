package dsp_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

// The goals of the resampler, for tones up to 0.9 of the smaller half rate
// (ripple) and at any frequency (everything else in the output: images,
// aliases, rounding), relative to the tone.
const (
	rippleGoal = 0.001 // dB
	spurGoal   = -120  // dB
)

// fitSine fits a·sin(ωt + phase) + b·cos(ωt + phase) by least squares and
// returns a, b and the RMS of what is left.
func fitSine(y []float64, first int, f, sr, phase float64) (a, b, rest float64) {
	var ss, sc, cc, ys, yc float64
	sines, cosines := make([]float64, len(y)), make([]float64, len(y))
	for i, v := range y {
		s, c := math.Sincos(2*math.Pi*math.Mod(f*float64(first+i)/sr, 1) + phase)
		sines[i], cosines[i] = s, c
		ss, sc, cc, ys, yc = ss+s*s, sc+s*c, cc+c*c, ys+v*s, yc+v*c
	}
	det := ss*cc - sc*sc
	a, b = (ys*cc-yc*sc)/det, (yc*ss-ys*sc)/det
	for i, v := range y {
		d := v - a*sines[i] - b*cosines[i]
		rest += d * d
	}
	return a, b, math.Sqrt(rest / float64(len(y)))
}

// resampleTone converts a tone and returns its gain in dB, what else there is
// in dB, and the phase error in radians, away from the edges.
func resampleTone(r *dsp.Resampler, from, to int, f float64) (gain, spur, phase float64) {
	x := sine(int(0.12*float64(from)), f, float64(from), 0.4)
	y := r.Resample(nil, x)
	edge := len(y) / 5 // 24 ms, twice as long as the longest filter
	a, b, rest := fitSine(y[edge:len(y)-edge], edge, f, float64(to), 0.4)
	return 20 * math.Log10(math.Hypot(a, b)), 20 * math.Log10(rest*math.Sqrt2), math.Atan2(b, a)
}

func TestResamplerPassesTones(t *testing.T) {
	for _, rates := range [][2]int{
		{8000, 44100}, {11025, 44100}, {12000, 44100}, {16000, 44100}, {22050, 44100}, {24000, 44100}, {32000, 44100},
		{48000, 44100}, {88200, 44100}, {96000, 44100}, {192000, 44100}, {8003, 44100}, {47999, 44100}, {191999, 44100},
		{44100, 8000}, {44100, 10000}, {44100, 11000}, {44100, 11025}, {44100, 16000}, {44100, 22050}, {44100, 48000},
	} {
		r := dsp.NewResampler(rates[0], rates[1])
		half := float64(min(rates[0], rates[1])) / 2
		var ripple, worst, worstPhase float64 = 0, -400, 0
		for _, share := range []float64{0.03, 0.41, 0.77, 0.9, 0.95, 0.99} {
			gain, spur, phase := resampleTone(r, rates[0], rates[1], share*half)
			worst = max(worst, spur)
			if share <= 0.9 {
				ripple, worstPhase = max(ripple, math.Abs(gain)), max(worstPhase, math.Abs(phase))
			}
		}
		t.Logf("%6d → %5d: ripple %.2g dB, spurs %.1f dB, phase %.2g rad", rates[0], rates[1], ripple, worst, worstPhase)
		if !(ripple <= rippleGoal && worst <= spurGoal && worstPhase < 1e-6) {
			t.Errorf("%d → %d: got ripple %v dB, spurs %v dB, phase %v, want at most %v, %v, 1e-6",
				rates[0], rates[1], ripple, worst, worstPhase, rippleGoal, spurGoal)
		}
	}
}

func TestResamplerStopsAliases(t *testing.T) {
	for _, rates := range [][2]int{{48000, 44100}, {96000, 44100}, {191999, 44100}, {44100, 8000}, {44100, 11000}, {44100, 16000}} {
		r := dsp.NewResampler(rates[0], rates[1])
		low, high := float64(rates[1])/2, float64(rates[0])/2
		for _, share := range []float64{0, 0.01, 0.05, 0.1, 0.3, 0.6, 0.99} {
			f := low + share*(high-low)
			if share == 0 {
				f += 1
			}
			y := r.Resample(nil, sine(rates[0]/8, f, float64(rates[0]), 0.4))
			y = y[len(y)/5 : len(y)*4/5]
			if db := 10 * math.Log10(2*math.Pow(norm(y), 2)/float64(len(y))); !(db <= spurGoal) {
				t.Errorf("%d → %d: got %v Hz at %.1f dB, want at most %v", rates[0], rates[1], f, db, spurGoal)
			}
		}
	}
}

// slowBessel is the modified Bessel function of order 0 by its integral,
// ∫ exp(x·cos t) dt / π over 0 … π, by the trapezoidal rule, which converges fast
// for periodic functions.
func slowBessel(x float64) float64 {
	const n = 64
	s := 0.5 * (math.Exp(x) + math.Exp(-x))
	for k := 1; k < n; k++ {
		s += math.Exp(x * math.Cos(math.Pi*float64(k)/n))
	}
	return s / n
}

// slowResample is the band-limited interpolation written down directly: one
// long Kaiser-windowed sinc with the cut-off of the Resampler.
func slowResample(x []float64, from, to int) []float64 {
	const half = 400 // periods of the smaller rate, so that it is far steeper
	smaller := float64(min(from, to))
	y := make([]float64, dsp.NewResampler(from, to).Len(len(x)))
	for k := range y {
		t := float64(k) / float64(to)
		for n, v := range x {
			u := (t - float64(n)/float64(from)) * smaller
			if math.Abs(u) < half {
				w := slowBessel(14*math.Sqrt(1-u*u/(half*half))) / slowBessel(14)
				sinc := 1.0
				if u != 0 {
					sinc = math.Sin(math.Pi*0.95*u) / (math.Pi * 0.95 * u)
				}
				y[k] += v * w * sinc * 0.95 * smaller / float64(from)
			}
		}
	}
	return y
}

// TestResamplerEqualsDefinition holds it against the definition for a
// band-limited pulse near the start, where the filters reach over the edge.
func TestResamplerEqualsDefinition(t *testing.T) {
	for _, rates := range [][2]int{{16000, 44100}, {48000, 44100}, {44100, 11000}, {8001, 9000}} {
		smaller := float64(min(rates[0], rates[1]))
		x := make([]float64, rates[0]/100) // 10 ms: the pulse is over after 7
		for i := range x {
			// A Gaussian pulse on a carrier of an eighth of the smaller rate.
			u := (float64(i)/float64(rates[0]) - 0.004) * smaller
			x[i] = math.Exp(-u*u/50) * math.Cos(math.Pi/4*u)
		}
		got := dsp.NewResampler(rates[0], rates[1]).Resample(nil, x)
		want := slowResample(x, rates[0], rates[1])
		for k := range want {
			if math.Abs(got[k]-want[k]) > 1e-6 {
				t.Fatalf("%v: got [%d] = %v, want %v", rates, k, got[k], want[k])
			}
		}
	}
}

func TestResamplerLength(t *testing.T) {
	for _, rates := range [][2]int{{8000, 44100}, {44100, 11000}, {48000, 44100}, {44100, 44100}, {4000, 384000}, {384000, 4000}} {
		r := dsp.NewResampler(rates[0], rates[1])
		for _, n := range []int{0, 1, 2, 7, 1000, 12345} {
			want := (n*rates[1] + rates[0] - 1) / rates[0]
			if got := len(r.Resample(nil, noise(1, n))); got != want {
				t.Errorf("%v: got %d samples for %d, want %d", rates, got, n, want)
			}
		}
	}
}

func TestResamplerForgets(t *testing.T) {
	r := dsp.NewResampler(16000, 44100)
	x := noise(3, 5000)
	first := r.Resample(nil, x)
	r.Resample(nil, noise(4, 7777))
	again := r.Resample(make([]float64, 0, len(first)), x)
	for k := range first {
		if first[k] != again[k] {
			t.Fatalf("got [%d] = %v after another signal, want %v", k, again[k], first[k])
		}
	}
}

// TestResamplerContainsNaN: only samples near a bad one are lost.
func TestResamplerContainsNaN(t *testing.T) {
	r := dsp.NewResampler(16000, 44100)
	x := noise(8, 16000)
	want := r.Resample(nil, x)
	x[8000] = math.NaN()
	for k, v := range r.Resample(nil, x) {
		far := math.Abs(float64(k)/44100-0.5) > 0.070 // a block of 1024 and the interpolator's reach
		if far && v != want[k] {
			t.Fatalf("got [%d] = %v, want %v", k, v, want[k])
		}
	}
}

func TestResamplerPanics(t *testing.T) {
	for _, rates := range [][2]int{{0, 44100}, {-8000, 44100}, {44100, 3999}, {384001, 44100}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v: got no panic", rates)
				}
			}()
			dsp.NewResampler(rates[0], rates[1])
		}()
	}
}

func TestResamplerAllocatesNothing(t *testing.T) {
	r, x := dsp.NewResampler(16000, 44100), noise(1, 4000)
	y := r.Resample(nil, x)
	if n := cost.Allocations(3, func() { y = r.Resample(y, x) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

func BenchmarkResampler(b *testing.B) {
	for _, rates := range [][2]int{{8000, 44100}, {16000, 44100}, {22050, 44100}, {48000, 44100}, {44100, 11000}, {8003, 44100}} {
		b.Run(fmt.Sprintf("%d-%d", rates[0], rates[1]), func(b *testing.B) {
			r, x := dsp.NewResampler(rates[0], rates[1]), noise(1, 2*rates[0])
			y := r.Resample(nil, x)
			b.ReportAllocs()
			for b.Loop() {
				y = r.Resample(y, x)
			}
			reportAudio(b, 2*dsp.SampleRate)
		})
	}
}
