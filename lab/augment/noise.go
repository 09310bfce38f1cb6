package augment

import (
	"math"
	"math/rand/v2"
)

// addNoise adds noise of a random colour 12 to 35 dB below the recording: from
// white to brown by one pole (four in five), pink, or a babble.
func addNoise(x []float64, rate int, rng *rand.Rand) {
	level := -(12 + 23*rng.Float64())
	var noise []float64
	switch u := rng.Float64(); {
	case u < 0.8:
		noise = colouredNoise(len(x), 0.95*rng.Float64(), rng)
	case u < 0.9:
		noise = pinkNoise(len(x), rng)
	default:
		noise = babble(len(x), rate, rng)
	}
	signal, power := energy(x), energy(noise)
	if power == 0 {
		return
	}
	gain := math.Sqrt(signal/power) * math.Pow(10, level/20)
	for i := range x {
		x[i] += gain * noise[i]
	}
}

func energy(x []float64) (e float64) {
	for _, v := range x {
		e += v * v
	}
	return e
}

// colouredNoise is white noise through 1/(1 − pole·z⁻¹).
func colouredNoise(n int, pole float64, rng *rand.Rand) []float64 {
	y := make([]float64, n)
	var last float64
	for i := range y {
		last = pole*last + rng.NormFloat64()
		y[i] = last
	}
	return y
}

// pinkPoles and pinkZeros are those of an approximation to −3 dB an octave, to
// ±0.3 dB over ten octaves (J. O. Smith, Spectral Audio Signal Processing,
// "Example: synthesis of 1/f noise").
var (
	pinkPoles = []float64{0.99572754, 0.94790649, 0.53567505}
	pinkZeros = []float64{0.98443604, 0.83392334, 0.07568359}
)

func pinkNoise(n int, rng *rand.Rand) []float64 {
	y := colouredNoise(n, 0, rng)
	for s, p := range pinkPoles {
		var in, out float64
		for i, v := range y {
			out = v - pinkZeros[s]*in + p*out
			in = v
			y[i] = out
		}
	}
	return y
}

// babble is what remains of several people who talk at a distance: six noises,
// each through a resonance where formants lie, that come and go two to six
// times a second. It contains no voice of its own, which would be either real
// or fake.
func babble(n, rate int, rng *rand.Rand) []float64 {
	y := make([]float64, n)
	for range 6 {
		f, width := 250+2250*rng.Float64()*rng.Float64(), 150+150*rng.Float64()
		times, phase := 2+4*rng.Float64(), 2*math.Pi*rng.Float64()
		r := math.Exp(-math.Pi * width / float64(rate))
		b, c := 2*r*math.Cos(2*math.Pi*f/float64(rate)), -r*r
		gain := (1 - r) * math.Sqrt(500/f) // the level of voices falls above 500 Hz
		var y1, y2 float64
		for i := range y {
			y1, y2 = gain*rng.NormFloat64()+b*y1+c*y2, y1
			envelope := 1 + math.Sin(2*math.Pi*times*float64(i)/float64(rate)+phase)
			y[i] += envelope * y1
		}
	}
	return y
}
