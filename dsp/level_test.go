package dsp

import (
	"math"
	"testing"
)

func TestLevel(t *testing.T) {
	square := make([]float64, SampleRate/2)
	for i := range square {
		square[i] = math.Copysign(1, math.Sin(2*math.Pi*300*(float64(i)+0.5)/SampleRate))
	}
	for _, c := range []struct {
		name      string
		x         []float64
		want, tol float64 // dB
	}{
		{"full-scale square wave", square, 0, 1e-12},
		// 25 ms hold 25 periods of 1 kHz but for half a sample.
		{"sine of amplitude ½", scaled(sine(SampleRate/2, 1000, SampleRate, 0), 0.5), 20*math.Log10(0.5) - 10*math.Log10(2), 0.05},
		{"digital silence", make([]float64, 5000), math.Inf(-1), 0},
	} {
		var out Analysis
		NewSpectral().Frames(c.x, 0, &out)
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

func scaled(x []float64, g float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = g * v
	}
	return y
}

// TestLevelsEqualDefinition: each is the RMS of the frame's own samples.
func TestLevelsEqualDefinition(t *testing.T) {
	for _, n := range []int{1, 100, 441, 551, 552, 700, 1103, 5000} {
		x := noise(21, n)
		got := make([]float64, FrameCount(n))
		levels(got, x, 0.1)
		for i := range got {
			var s, count float64
			for j := max(i*441-551, 0); j <= min(i*441+551, n-1); j++ {
				s += sq(x[j] - 0.1)
				count++
			}
			if want := 10 * math.Log10(s/count); !closeTo(got[i], want, 1e-12) {
				t.Errorf("%d samples: got %v dB in frame %d, want %v", n, got[i], i, want)
			}
		}
	}
}

// frameLoudness is the loudness of a frame in the middle of x.
func frameLoudness(x []float64) float64 {
	var out Analysis
	NewSpectral().Frames(x, 0, &out)
	return out.Loudness[len(out.Loudness)/2]
}

func TestLoudness(t *testing.T) {
	tone := func(f, a float64) []float64 { return scaled(sine(SampleRate/4, f, SampleRate, 0.3), a) }
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

// TestEqualLoudness holds Hermansky's eq. 6 against the 40 dB sensitivity he
// describes: 12 dB per octave to 400 Hz, 0 to 1200 Hz, 6 to 3100 Hz, 0 above.
func TestEqualLoudness(t *testing.T) {
	rise := func(f float64) float64 { return ratioDB(equalLoudness(2*f), equalLoudness(f)) }
	for _, c := range []struct{ f, low, high float64 }{
		{50, 11, 12.1}, {100, 9, 12.1}, {500, 1, 5}, {1400, 2, 6}, {3500, -1, 2.5},
	} {
		if got := rise(c.f); got < c.low || got > c.high {
			t.Errorf("got %v dB per octave from %v Hz, want %v to %v", got, c.f, c.low, c.high)
		}
	}
}
