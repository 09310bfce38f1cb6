package signals

import "math"

// Vowels are the formants and bandwidths of five vowels of a male voice, after the averages
// of Peterson and Barney (1952). The vowel a is that of "father".
var Vowels = map[string][]Resonance{
	"a":     {{730, 60}, {1090, 90}, {2440, 120}, {3400, 200}, {4300, 250}},
	"i":     {{270, 50}, {2290, 90}, {3010, 150}, {3600, 200}, {4500, 250}},
	"u":     {{300, 50}, {870, 80}, {2240, 120}, {3300, 200}, {4200, 250}},
	"ae":    {{660, 60}, {1720, 90}, {2410, 130}, {3400, 200}, {4400, 250}},
	"schwa": {{500, 60}, {1500, 90}, {2500, 130}, {3500, 200}, {4500, 250}},
}

// FemaleScale is the factor on the formants of [Vowels] for a female voice.
const FemaleScale = 1.15

// Klatt returns a vowel of peak 1 after Klatt (1980), for dur seconds with fades of 10 ms. A
// cascade of resonators filters the derivative of Rosenberg's glottal flow C (1971) of f0
// Hz, which rises for 40 % and falls for 16 % of the period. The formants are multiplied by
// scale.
func Klatt(sr, f0 float64, vowel []Resonance, scale, dur float64) []float64 {
	x := rosenberg(sr, f0, dur)
	for _, r := range vowel {
		resonate(x, sr, r.F*scale, r.B)
	}
	return Fade(Normalize(x, 1), sr, 0.010)
}

// resonate filters x in place with Klatt's digital resonator (1980, eq. 1 and 2).
func resonate(x []float64, sr, f, b float64) {
	r := math.Exp(-math.Pi * b / sr)
	cB, cC := 2*r*math.Cos(2*math.Pi*f/sr), -r*r
	cA := 1 - cB - cC
	var y1, y2 float64
	for i, v := range x {
		y := cA*v + cB*y1 + cC*y2
		y2, y1 = y1, y
		x[i] = y
	}
}

// rosenberg returns the derivative of Rosenberg's flow C. To avoid aliasing it is computed
// at eight times the rate and low-passed by a windowed sinc.
func rosenberg(sr, f0, dur float64) []float64 {
	const (
		over       = 8
		half       = 32 * over // taps on each side
		cutoff     = 0.92      // of the output's Nyquist frequency
		rise, fall = 0.40, 0.16
	)
	var h [2*half + 1]float64
	var sum float64
	for i := range h {
		t := float64(i-half) / over * cutoff
		// Hann window: side lobes fall fast enough for a source that falls by 12 dB per octave
		w := 0.5 + 0.5*math.Cos(math.Pi*float64(i-half)/(half+1))
		h[i] = w
		if t != 0 {
			h[i] *= math.Sin(math.Pi*t) / (math.Pi * t)
		}
		sum += h[i]
	}
	n := samples(sr, dur)
	g := make([]float64, n*over+2*half)
	for i := range g {
		_, p := math.Modf(float64(i-half)/(sr*over)*f0 + 1)
		switch {
		case i < half:
		case p < rise:
			g[i] = 0.5 * (1 - math.Cos(math.Pi*p/rise))
		case p < rise+fall:
			g[i] = math.Cos(0.5 * math.Pi * (p - rise) / fall)
		}
	}
	x := make([]float64, n)
	var last float64
	for i := range x {
		var v float64
		for j, y := range g[i*over:][:len(h)] {
			v += h[j] * y
		}
		v /= sum
		x[i], last = v-last, v
	}
	return x
}
