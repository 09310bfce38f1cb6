package dsp

import (
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// The low-pass is a Gaussian, and what folds in the decimation is gone.
func TestLowpassResponse(t *testing.T) {
	const ceiling = 800.0
	for _, sr := range []float64{16000, 44100} {
		l := newLowpass(sr, ceiling)
		fc := ceiling / math.Sqrt(-2*math.Log(lowpassTop))
		for _, f := range []float64{60, 200, 400, 800, 1100, 2500, 2700, 5000, 5450, 7900} {
			x := signals.Tone(sr, f, 1, 0.3)
			all := whole(x)
			l.start(len(x), 0)
			y := l.part(&all, 0, l.n)
			var got float64
			for _, v := range y[len(y)/4 : 3*len(y)/4] {
				got = max(got, math.Abs(v))
			}
			want := math.Exp(-0.5 * f * f / (fc * fc))
			const ripple, leak = 3e-3, 1e-3 // of full scale: samples between the crests; −60 dB
			if f <= 1100 && math.Abs(got-want) > ripple || f > 1100 && got > leak {
				t.Errorf("%g Hz at %g Hz: got %g, want %g", f, sr, got, want)
			}
		}
	}
}

func TestInterpolatorFindsPeaks(t *testing.T) {
	in := newInterpolator()
	for _, w := range []float64{0.1, 0.5, 1, 1.8} { // rad per sample, up to 0.57 of the Nyquist frequency
		for _, at := range []float64{30, 30.21, 30.5, 30.77} {
			r := make([]float64, 64)
			for i := range r {
				r[i] = math.Cos(w * (float64(i) - at))
			}
			k := int(math.Round(at))
			got, v := in.peak(r, k)
			const ripple = 1e-4 // of the kernel; over the curvature it moves the place
			if math.Abs(got-at) > ripple/(w*w)+ripple || math.Abs(v-1) > ripple {
				t.Errorf("ω = %g: got %g at %.6f, want 1 at %g", w, v, got, at)
			}
		}
	}
}

// TestFilterBankEqualsDefinition writes the triangles down slowly.
func TestFilterBankEqualsDefinition(t *testing.T) {
	const sr, nfft, n = 16000.0, 512, 20
	for _, band := range [][2]float64{{0, 8000}, {300, 3400}, {60, 7999}} {
		b := newFilterBank(sr, nfft, n, band[0], band[1], HzToMel)
		p := noise(5, nfft/2+1)
		for k := range p {
			p[k] = math.Abs(p[k])
		}
		got := make([]float64, n)
		b.energies(got, p[:b.lastBins], hasAVX)
		edge := func(j int) float64 {
			return HzToMel(band[0]) + (HzToMel(band[1])-HzToMel(band[0]))*float64(j)/(n+1)
		}
		want := make([]float64, n)
		for m := range want {
			for k := 1; k < nfft/2; k++ {
				x := HzToMel(float64(k) * sr / nfft)
				up := (x - edge(m)) / (edge(m+1) - edge(m))
				down := (edge(m+2) - x) / (edge(m+2) - edge(m+1))
				want[m] += p[k] * math.Max(0, math.Min(up, down))
			}
		}
		compare(t, "filters", got, want, 1e-12)
		slow := make([]float64, n)
		b.energies(slow, p, false)
		compare(t, "filters without assembly", got, slow, fusedTolerance(1e-12))
	}
}

// The covariance method recovers the filter of a signal that only rings.
func TestRefitRecoversTheFilter(t *testing.T) {
	const n = 4000
	y := make([]float64, n)
	var pulses []float64
	want := [residualOrder + 1]float64{1, -1.6, 1.3, -0.6, 0.2}
	for i := range y {
		if i%80 == 40 {
			y[i] = 1
			pulses = append(pulses, float64(i))
		}
		for k := 1; k <= 4 && k <= i; k++ {
			y[i] -= want[k] * y[i-k]
		}
	}
	var s residual
	s.model(y, 11025)
	s.refit(y, pulses)
	const ridge = 1e-2 // what the ridge leaves of twelve coefficients of which eight are not needed
	z := s.ring(y, 2050, 2060)
	for i, v := range z { // 2050 lies in the middle of a period
		if math.Abs(v-y[2050+i]) > ridge*1e-2 {
			t.Errorf("free ringing at %d: got %g, want %g", i, v, y[2050+i])
		}
	}
	if !stable(want) || stable([residualOrder + 1]float64{1, -2, 1.1}) {
		t.Error("stable: got the wrong answer for a known filter")
	}
}
