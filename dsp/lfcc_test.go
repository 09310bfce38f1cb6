package dsp_test

import (
	"math"
	"math/cmplx"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
)

// slowLFCC writes the definition down: DFT, triangles and DCT as sums.
func slowLFCC(x []float64, sr float64, nfft, filters, coefficients int, low, high, emphasis, floor float64) []float64 {
	n := len(x)
	y := make([]float64, nfft)
	for j := range x {
		before := x[max(j-1, 0)]
		y[j] = (x[j] - emphasis*before) * (0.54 - 0.46*math.Cos(2*math.Pi*float64(j)/float64(n-1)))
	}
	spectrum := slowDFT(y)
	width := (high - low) / float64(filters+1)
	logs := make([]float64, filters)
	for m := range logs {
		var e float64
		for k := 1; k < nfft/2; k++ {
			f := float64(k) * sr / float64(nfft)
			triangle := 1 - math.Abs(f-low-width*float64(m+1))/width
			e += max(triangle, 0) * math.Pow(cmplx.Abs(spectrum[k]), 2)
		}
		logs[m] = math.Log10(e + floor)
	}
	c := make([]float64, coefficients)
	for i := range c {
		for m, v := range logs {
			c[i] += v * math.Cos(math.Pi*float64(i)*(float64(m)+0.5)/float64(filters))
		}
		c[i] *= math.Sqrt(2 / float64(filters))
	}
	c[0] /= math.Sqrt2
	return c
}

func TestLFCCEqualsDefinition(t *testing.T) {
	for _, c := range []struct {
		name      string
		sr        float64
		opts      *dsp.LFCCOptions
		nfft      int
		low, high float64
		emphasis  float64
		floor     float64
	}{
		{"defaults at 16 kHz", 16000, nil, 512, 0, 8000, 0.97, 0x1p-52},
		{"band of a telephone", 8000, &dsp.LFCCOptions{Low: 300, High: 3400}, 512, 300, 3400, 0.97, 0x1p-52},
		{"full band", 44100, &dsp.LFCCOptions{Frame: 0.025}, 2048, 0, 22050, 0.97, 0x1p-52},
		{"without pre-emphasis", 16000, &dsp.LFCCOptions{Low: 30, High: 8000, NoPreEmphasis: true, Floor: 1e-2}, 512, 30, 8000, 0, 1e-2},
	} {
		l := dsp.NewLFCC(c.sr, c.opts)
		x := noise(9, l.FrameLen())
		got := l.Coefficients(nil, x)
		compare(t, c.name, got, slowLFCC(x, c.sr, c.nfft, 20, 20, c.low, c.high, c.emphasis, c.floor), 1e-9)
		var mean float64
		for _, e := range l.LogEnergies() {
			mean += e / 20
		}
		compare(t, c.name+", mean of the logarithms", []float64{got[0]}, []float64{mean * math.Sqrt(20)}, 1e-9)
		if n := len(l.Spectrum()); n != int(c.high*float64(c.nfft)/c.sr)+1 && c.high < c.sr/2 {
			t.Errorf("%s: got %d bins, want all up to %v Hz", c.name, n, c.high)
		}
	}
}

func TestLFCCOfSilenceIsFinite(t *testing.T) {
	l := dsp.NewLFCC(16000, nil)
	c := l.Coefficients(nil, make([]float64, l.FrameLen()))
	if want := math.Sqrt(20) * math.Log10(0x1p-52); !closeTo(c[0], want, 1e-12) {
		t.Errorf("got c0 = %v, want %v", c[0], want)
	}
	for i, v := range c[1:] {
		if math.Abs(v) > 1e-12 {
			t.Errorf("got c%d = %v, want 0", i+1, v)
		}
	}
}

func TestCepstraPanic(t *testing.T) {
	for name, call := range map[string]func(){
		"MFCC rate":       func() { dsp.NewMFCC(math.NaN(), nil) },
		"MFCC band":       func() { dsp.NewMFCC(16000, &dsp.MFCCOptions{High: 9000}) },
		"MFCC frame":      func() { dsp.NewMFCC(16000, nil).Coefficients(nil, make([]float64, 399)) },
		"LFCC rate":       func() { dsp.NewLFCC(0, nil) },
		"LFCC band":       func() { dsp.NewLFCC(16000, &dsp.LFCCOptions{Low: 5000, High: 4000}) },
		"LFCC short FFT":  func() { dsp.NewLFCC(44100, &dsp.LFCCOptions{FFTLen: 512}) },
		"LFCC frame":      func() { dsp.NewLFCC(16000, nil).Coefficients(nil, make([]float64, 321)) },
		"LFCC dst":        func() { dsp.NewLFCC(16000, nil).Coefficients(make([]float64, 19), make([]float64, 320)) },
		"LFCC floor":      func() { dsp.NewLFCC(16000, &dsp.LFCCOptions{Floor: -1}) },
		"negative filter": func() { dsp.NewLFCC(16000, &dsp.LFCCOptions{Filters: -1}) },
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

func BenchmarkLFCC(b *testing.B) {
	x := noise(1, dsp.SampleRate)
	l := dsp.NewLFCC(dsp.SampleRate, nil)
	c := make([]float64, 20)
	b.ReportAllocs()
	for b.Loop() {
		for at := 0; at+l.FrameLen() <= len(x); at += dsp.SampleRate / 100 {
			l.Coefficients(c, x[at:][:l.FrameLen()])
		}
	}
	reportAudio(b, len(x))
}
