package dsp_test

import (
	"math"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
)

// spectrumLen is the number of samples of a frame of [Spectrum], 23.2 ms.
const spectrumLen = 1024

func squared(x float64) float64 { return x * x }

// slowSpectrum writes the definitions of spectrometer down for one frame and
// the magnitudes of the frame before.
func slowSpectrum(frame []float64, before []float64) (m dsp.Spectrum, magnitude []float64) {
	n := len(frame)
	y := make([]float64, n)
	var wx, w1 float64
	window := func(j int) float64 { return 0.5 - 0.5*math.Cos(2*math.Pi*float64(j)/float64(n)) }
	for j, v := range frame {
		wx += window(j) * v
		w1 += window(j)
	}
	for j, v := range frame {
		y[j] = window(j) * (v - wx/w1)
	}
	hz := dsp.SampleRate / float64(n)
	p := make([]float64, n/2+1)
	var total, moment float64
	for k, c := range slowDFT(y) {
		if k > 0 {
			p[k] = real(c)*real(c) + imag(c)*imag(c)
		}
		total += p[k]
		moment += float64(k) * hz * p[k]
	}
	m.Centroid = moment / total
	share := 0.0
	for k := range p {
		if share+p[k] >= 0.85*total {
			m.Rolloff85 = (float64(k) - 0.5 + (0.85*total-share)/p[k]) * hz
			break
		}
		share += p[k]
	}
	for k := range p {
		a := math.Sqrt(p[k] / total)
		magnitude = append(magnitude, a)
		if before != nil {
			m.Flux += squared(a - before[k])
		}
	}
	m.Flux = math.Sqrt(m.Flux)
	in := func(low, high float64) (f, bins []float64) {
		for k := 1; k < len(p); k++ {
			if x := float64(k) * hz; x > low && x <= high {
				f, bins = append(f, x), append(bins, p[k])
			}
		}
		return f, bins
	}
	_, b := in(50, 5000)
	var logs float64
	for _, v := range b {
		logs += math.Log(v)
	}
	m.Flatness = math.Exp(logs/float64(len(b))) / (dsp.Mean(b))
	slope := func(low, high float64) float64 {
		f, b := in(low, high)
		var mf, mb, xy, xx float64
		for i := range f {
			mf += f[i] / float64(len(f))
			mb += 10 * math.Log10(b[i]) / float64(len(f))
		}
		for i := range f {
			xy += (f[i] - mf) * (10*math.Log10(b[i]) - mb)
			xx += squared(f[i] - mf)
		}
		return xy / xx
	}
	m.Slope500, m.Slope1500 = slope(0, 500), slope(500, 1500)
	_, low := in(50, 1000)
	_, high := in(1000, 5000)
	m.Alpha = 10 * math.Log10(dsp.Mean(low)*float64(len(low))/(dsp.Mean(high)*float64(len(high))))
	_, low = in(0, 2000)
	_, high = in(2000, 5000)
	m.Hammarberg = 10 * math.Log10(slices.Max(low)/slices.Max(high))
	return m, magnitude
}

func spectrumValues(s dsp.Spectrum) []float64 {
	return []float64{s.Centroid, s.Rolloff85, s.Flux, s.Flatness, s.Slope500, s.Slope1500, s.Alpha, s.Hammarberg}
}

func TestSpectrumEqualsDefinition(t *testing.T) {
	x := noise(11, 3*dsp.SampleRate/100)
	for i := 2; i < len(x); i++ {
		x[i] += 1.6*x[i-1] - 0.8*x[i-2] // a resonance
	}
	x[900] += 500 // and a click
	var out dsp.Analysis
	dsp.NewSpectral().Frames(x, 0, &out)
	var before []float64
	for i, got := range out.Spectrum {
		frame := dsp.CopyFrame(make([]float64, spectrumLen), x, i*dsp.SampleRate/100-spectrumLen/2)
		var want dsp.Spectrum
		want, before = slowSpectrum(frame, before)
		compare(t, "spectrum", spectrumValues(got), spectrumValues(want), 1e-9)
	}
}

func TestSpectrumOfKnownSignals(t *testing.T) {
	middle := func(x []float64) dsp.Spectrum {
		var out dsp.Analysis
		dsp.NewSpectral().Frames(x, 0, &out)
		return out.Spectrum[len(out.Spectrum)/2]
	}
	near := func(name string, got, want, tol float64) {
		t.Helper()
		if !(math.Abs(got-want) <= tol) {
			t.Errorf("%s: got %v, want %v ± %v", name, got, want, tol)
		}
	}
	tone := middle(scaled(sine(dsp.SampleRate/4, 3000, dsp.SampleRate, 0), 0.1))
	near("centroid of a tone", tone.Centroid, 3000, 1) // Hz; the sum of the window's lobes
	near("roll-off of a tone", tone.Rolloff85, 3000, 1.5*dsp.SampleRate/spectrumLen)
	near("flatness of a tone", tone.Flatness, 0, 0.01)

	two := sine(dsp.SampleRate/4, 500, dsp.SampleRate, 0)
	for i, v := range sine(dsp.SampleRate/4, 3000, dsp.SampleRate, 1) {
		two[i] += 0.1 * v
	}
	s := middle(two)
	near("alpha ratio of tones 20 dB apart", s.Alpha, 20, 0.01)
	near("Hammarberg index of tones 20 dB apart", s.Hammarberg, 20, 1.5) // dB; 1.42 is the window's scalloping

	offset := middle(two)
	for i := range two {
		two[i] += 0.5
	}
	compare(t, "offset", spectrumValues(middle(two)), spectrumValues(offset), 1e-6)

	// The mean over frames of white noise: half of the half rate, 0.85 of it, and
	// e^−γ for exponentially distributed power (γ is Euler's constant).
	var out dsp.Analysis
	dsp.NewSpectral().Frames(noise(12, 2*dsp.SampleRate), 0, &out)
	var centroid, rolloff, flatness float64
	n := float64(len(out.Spectrum))
	for _, s := range out.Spectrum {
		centroid, rolloff, flatness = centroid+s.Centroid/n, rolloff+s.Rolloff85/n, flatness+s.Flatness/n
	}
	near("centroid of white noise", centroid, dsp.SampleRate/4, 110) // 1 %, four standard errors
	near("roll-off of white noise", rolloff, 0.85*dsp.SampleRate/2, 190)
	near("flatness of white noise", flatness, 0.5615, 0.02)
}

func TestSpectrumOfSilenceIsNaN(t *testing.T) {
	x := make([]float64, dsp.SampleRate/10)
	for i := range x {
		x[i] = 0.25 // an offset is silence too, away from the edges
	}
	copy(x[3000:], noise(1, 1000))
	var out dsp.Analysis
	dsp.NewSpectral().Frames(x, 0, &out)
	for i := 2; i < 5; i++ {
		for j, v := range spectrumValues(out.Spectrum[i]) {
			if !math.IsNaN(v) {
				t.Errorf("got measure %d of silent frame %d = %v, want NaN", j, i, v)
			}
		}
	}
	if s := out.Spectrum[6]; !math.IsNaN(s.Flux) || math.IsNaN(s.Centroid) {
		t.Errorf("got %v after silence, want a NaN flux alone", s)
	}
	if s := out.Spectrum[7]; math.IsNaN(s.Flux) {
		t.Errorf("got %v, want a flux", s)
	}
}
