package lanes

import (
	"fmt"
	"math"
	"math/cmplx"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

// rounding is of sums of a thousand numbers of size 1 in double precision.
const rounding = 1e-10

// slowDFT is the definition, of the bins 0 … n/2.
func slowDFT(x []float64, n int) []complex128 {
	out := make([]complex128, n/2+1)
	for k := range out {
		for j, v := range x {
			out[k] += complex(v, 0) * cmplx.Exp(complex(0, -2*math.Pi*float64(j*k%n)/float64(n)))
		}
	}
	return out
}

// frameOf is the frame number l of four that begin at start, start + hop, …, of which the
// last counts again behind count, under a window.
func frameOf(x, window []float64, start, hop, count, l int) []float64 {
	y := make([]float64, len(window))
	at := start + min(l, count-1)*hop
	for j := range y {
		if at+j < len(x) {
			y[j] = window[j] * x[at+j]
		}
	}
	return y
}

func near(t *testing.T, name string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rounding*(1+math.Abs(want))) {
		t.Errorf("%s: got %v, want %v", name, got, want)
	}
}

// The last frames reach beyond the signal, and there are but three.
func TestSpectrumEqualsDefinition(t *testing.T) {
	const n, hop, start = 64, 20, 10
	window, x := dsp.PeriodicHann(48), randoms(80)
	s := NewSpectrum(window, n)
	s.Measure(x, start, hop, 3)
	for l := range Count {
		for k, c := range slowDFT(frameOf(x, window, start, hop, 3, l), n) {
			near(t, fmt.Sprintf("frame %d, bin %d", l, k), s.Bins(k, k+1)[l], real(c)*real(c)+imag(c)*imag(c))
		}
	}
	if got := s.Bin(1000, 16000); got != 4 {
		t.Errorf("got bin %d for 1000 Hz, want 4", got)
	}
	if got := s.Bin(1001, 16000); got != 5 {
		t.Errorf("got bin %d for 1001 Hz, want 5", got)
	}
}

func TestCepstrumEqualsDefinition(t *testing.T) {
	for _, c := range []struct{ n, m int }{{1, 16}, {7, 16}, {100, 128}, {128, 128}, {90, 256}} {
		logs := randoms(Count * c.n)
		power := make([]float64, Count*(c.m/2+1))
		NewCepstrum(c.n, c.m).Power(power, logs)
		for l := range Count {
			var mean float64
			for k := range c.n {
				mean += logs[Count*k+l] / float64(c.n)
			}
			y := make([]float64, c.n)
			for k := range y {
				y[k] = (0.5 - 0.5*math.Cos(2*math.Pi*float64(k)/float64(c.n))) * (logs[Count*k+l] - mean)
			}
			for j, want := range slowDFT(y, c.m) {
				near(t, fmt.Sprintf("%d bins of %d, frame %d, C[%d]", c.n, c.m, l, j), power[Count*j+l], real(want)*real(want)+imag(want)*imag(want))
			}
		}
	}
}

func TestAutocorrelationEqualsDefinition(t *testing.T) {
	const n, lags, hop = 256, 41, 37
	window, x := dsp.PeriodicHann(160), randoms(400)
	a := NewAutocorrelation(window, n, lags)
	a.Measure(x, 0, hop, Count)
	lagged := func(x []float64, k int) (sum float64) {
		for j := range len(x) - k {
			sum += x[j] * x[j+k]
		}
		return sum
	}
	for l := range Count {
		y := frameOf(x, window, 0, hop, Count, l)
		for k := range lags + 1 {
			near(t, fmt.Sprintf("frame %d, lag %d", l, k), a.R[Count*k+l], lagged(y, k)*lagged(window, 0)/lagged(window, k))
		}
		const lag, lo, hi = 17, 5, 40
		spectrum := slowDFT(y, n)
		var want float64
		for k := lo; k < hi; k++ {
			want += math.Pow(cmplx.Abs(spectrum[k]), 2) * math.Cos(2*math.Pi*float64(k*lag)/n)
		}
		near(t, fmt.Sprintf("frame %d, band", l), a.Band(l, lag, lo, hi), want*lagged(window, 0)/lagged(window, lag))
	}
}

// A spectrum with a ripple every 8 bins has its peak at m/8, for every phase of the ripple.
func TestCepstrumFindsTheRipple(t *testing.T) {
	const n, m, every = 200, 256, 8
	logs, power := make([]float64, Count*n), make([]float64, Count*(m/2+1))
	for l, phase := range []float64{0, 1, 2.5, 4} {
		for k := range n {
			logs[Count*k+l] = -20 + math.Cos(2*math.Pi*float64(k)/every+phase)
		}
	}
	NewCepstrum(n, m).Power(power, logs)
	for l := range Count {
		best, at := 0.0, 0
		for j := range m/2 + 1 {
			if v := math.Sqrt(power[Count*j+l]); v > best {
				best, at = v, j
			}
		}
		// A Hann window of n points passes a cosine with n/4.
		if at != m/every || math.Abs(best-n/4) > 0.02*n/4 {
			t.Errorf("frame %d: got %v at %d, want %v at %d", l, best, at, n/4, m/every)
		}
	}
}

func TestAutocorrelationFindsThePeriod(t *testing.T) {
	const periodTolerance = 5e-4 // of the period, 0.9 cent: the error of the parabola with three periods in the window
	const n, lags = 640, 231
	a := NewAutocorrelation(dsp.PeriodicHann(n), 1024, lags)
	periods := [Count]float64{45, 73.4, 120.25, 199.7}
	x := make([]float64, Count*n) // eight partials of each period, one after the other
	for i := range x {
		for h := 1.; h <= 8; h++ {
			x[i] += math.Cos(2*math.Pi*h*float64(i%n)/periods[i/n]) / h
		}
	}
	a.Measure(x, 0, n, Count)
	for l, period := range periods {
		r := make([]float64, lags+1)
		for k := range r {
			r[k] = a.R[Count*k+l]
		}
		lag, exact := dsp.PeakLag(r, 40, min(int(1.5*period), 230))
		if math.Abs(exact-period) > periodTolerance*period || r[lag]/r[0] < 0.95 {
			t.Errorf("period %v: got %v, with a correlation of %v", period, exact, r[lag]/r[0])
		}
		if v := a.Band(l, lag, 5, 100) / Sum(a.Spectrum.Bins(5, 100))[l]; v < 0.9 {
			t.Errorf("period %v: got the correlation %v in a band, want nearly 1", period, v)
		}
	}
	a.Measure(make([]float64, n), 0, 1, Count)
	for k, v := range a.R {
		if v != 0 {
			t.Errorf("silence: got %v at %d, want 0", v, k)
		}
	}
}

// What a wrong setting does is promised: a panic, not a result.
func TestImpossibleSettingsPanic(t *testing.T) {
	window := dsp.PeriodicHann(32)
	for name, call := range map[string]func(){
		"points":                func() { NewFFT(48) },
		"too few points":        func() { NewFFT(8) },
		"window":                func() { NewSpectrum(window[:30], 32) },
		"long window":           func() { NewSpectrum(window, 16) },
		"more bins than points": func() { NewCepstrum(17, 16) },
		"no bins":               func() { NewCepstrum(0, 16) },
		"even lags":             func() { NewAutocorrelation(window, 64, 8) },
		"lags":                  func() { NewAutocorrelation(window, 64, 33) },
		"points of lags":        func() { NewAutocorrelation(window, 32, 9) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: got no panic", name)
				}
			}()
			call()
		}()
	}
}

func TestMeasuresAllocateNothing(t *testing.T) {
	x := randoms(2000)
	s := NewSpectrum(dsp.PeriodicHann(320), 512)
	a, c := NewAutocorrelation(dsp.PeriodicHann(320), 512, 101), NewCepstrum(100, 128)
	dst := make([]float64, Count*65)
	for name, run := range map[string]func(){
		"spectrum":        func() { s.Measure(x, 1800, 160, 2) },
		"autocorrelation": func() { a.Measure(x, 0, 160, Count) },
		"cepstrum":        func() { c.Power(dst, x[:Count*100]) },
	} {
		if n := cost.Allocations(10, run); n != 0 {
			t.Errorf("%s: got %v allocations, want 0", name, n)
		}
	}
}

func BenchmarkFFT(b *testing.B) {
	for _, n := range []int{256, 512, 1024, 2048} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, x := NewSpectrum(dsp.PeriodicHann(n), n), randoms(2*n)
			for b.Loop() {
				s.Measure(x, 0, n/4, Count)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/Count, "ns/frame")
		})
	}
}
