package dsp_test

import (
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
)

func TestLevel(t *testing.T) {
	square := make([]float64, dsp.SampleRate/2)
	for i := range square {
		square[i] = math.Copysign(1, math.Sin(2*math.Pi*300*(float64(i)+0.5)/dsp.SampleRate))
	}
	for _, c := range []struct {
		name      string
		x         []float64
		want, tol float64 // dB
	}{
		{"full-scale square wave", square, 0, 1e-12},
		// 25 ms hold 25 periods of 1 kHz but for half a sample.
		{"sine of amplitude ½", scaled(sine(dsp.SampleRate/2, 1000, dsp.SampleRate, 0), 0.5), 20*math.Log10(0.5) - 10*math.Log10(2), 0.05},
		{"digital silence", make([]float64, 5000), math.Inf(-1), 0},
	} {
		var out dsp.Analysis
		dsp.NewSpectral().Frames(c.x, 0, &out)
		for i, got := range out.Level { // at the edges too: only samples that exist count
			tol := c.tol
			if i == 0 || i == len(out.Level)-1 {
				tol *= 8
			}
			if got != c.want && !(math.Abs(got-c.want) <= tol) {
				t.Errorf("%s: got %v dB in frame %d, want %v", c.name, got, i, c.want)
			}
		}
	}
}

// frameLoudness is the loudness of a frame in the middle of x.
func frameLoudness(x []float64) float64 {
	var out dsp.Analysis
	dsp.NewSpectral().Frames(x, 0, &out)
	return out.Loudness[len(out.Loudness)/2]
}

func TestLoudness(t *testing.T) {
	tone := func(f, a float64) []float64 { return scaled(sine(dsp.SampleRate/4, f, dsp.SampleRate, 0.3), a) }
	base := frameLoudness(tone(1000, 0.5))
	// The value openSMILE 3.0.1 (eGeMAPSv02) has for the tone; half a percent for
	// the phase at which the frame cuts it.
	if math.Abs(base/2.1688-1) > 0.005 {
		t.Errorf("got %v for 1 kHz at amplitude ½, want 2.1688", base)
	}
	// Power to the third root: 60 dB make a factor of 100.
	if got := frameLoudness(tone(1000, 0.0005)) * 100 / base; math.Abs(got-1) > 1e-9 {
		t.Errorf("got a factor of %v for 60 dB, want 1/100", got/100)
	}
	// The ear is less sensitive at 100 Hz than at 1 and at 3 kHz.
	if low, mid := frameLoudness(tone(100, 0.5)), frameLoudness(tone(3000, 0.5)); low > base/2 || mid < base*0.9 {
		t.Errorf("got %v at 100 Hz and %v at 3 kHz against %v at 1 kHz", low, mid, base)
	}
	// Two tones in different bands are louder than one of the same power.
	two := tone(1000, 0.5*math.Sqrt2/2)
	for i, v := range tone(3000, 0.5*math.Sqrt2/2) {
		two[i] += v
	}
	if got := frameLoudness(two); got < 1.3*base {
		t.Errorf("got %v for two tones, want well above %v", got, base)
	}
	if got := frameLoudness(make([]float64, 5000)); got != 0 {
		t.Errorf("got %v for silence, want 0", got)
	}
}
