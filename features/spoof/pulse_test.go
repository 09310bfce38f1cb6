package spoof

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPulsesOfATrain measures trains of pulses through a resonance, which linear
// prediction takes away: each pulse is one sharp peak like the one before.
func TestPulsesOfATrain(t *testing.T) {
	steady := extract(pulses(2, func(int) float64 { return 100 }), rateHz)
	for name, least := range map[string]float64{
		"pulse.polarity": 0.95, "pulse.core.mean": 0.7, "pulse.correlation.mean": 0.9, "pulse.low_correlation.mean": 0.9,
	} {
		if got := steady.Get(name); !(got >= least) {
			t.Errorf("steady pulses: got %s = %v, want at least %v", name, got, least)
		}
	}
	// Pulses that point both ways at random, and pulses with noise between them.
	rng := rand.New(rand.NewPCG(2, 1))
	x := pulses(2, func(int) float64 { return 100 })
	for i := range x {
		x[i] += 0.15 * rng.NormFloat64()
	}
	noisy := extract(x, rateHz)
	for _, name := range []string{"pulse.core.mean", "pulse.correlation.mean", "pulse.rest_correlation.mean", "pulse.peak_log.mean"} {
		if a, b := noisy.Get(name), steady.Get(name); !(a < b-0.1) {
			t.Errorf("got %s = %v with noise and %v without, want less", name, a, b)
		}
	}
	negative := slices.Clone(x)
	for i := range negative {
		negative[i] = -negative[i]
	}
	turned := extract(negative, rateHz)
	for _, f := range excitationFeatures {
		a, b := turned.Get(f[0]), noisy.Get(f[0])
		if math.Abs(a-b) > 0.1*max(math.Abs(b), 1) { // the dither is not turned
			t.Errorf("%s: got %v with the other polarity, want %v", f[0], a, b)
		}
	}
}

// TestResidualOfTheRecording compares the residual of a whole recording with the
// definition.
func TestResidualOfTheRecording(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	x := make([]float64, 2000)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	a := make([]float64, lpcOrder+1)
	for k := range a {
		a[k] = rng.NormFloat64()
	}
	var e excitations
	e.begin(len(x))
	const start = 2 * lpcHop
	e.add(x, start, a)
	for n, got := range e.residual {
		var want float64
		if n >= start+lpcHop/2 && n < start+lpcHop/2+lpcHop {
			for k, v := range a {
				want += v * x[n-k]
			}
		}
		if math.Abs(got-want) > 1e-12 {
			t.Fatalf("sample %d: got %v, want %v", n, got, want)
		}
	}
}

// TestCoherenceOfModulatedNoise adds noise above 3.5 kHz to pulses: noise that comes
// with each pulse is coherent, steady noise is not.
func TestCoherenceOfModulatedNoise(t *testing.T) {
	with := func(depth float64) float64 {
		rng := rand.New(rand.NewPCG(7, 7))
		x := pulses(2, func(int) float64 { return 128 })
		var last float64
		for i := range x {
			w := rng.NormFloat64()
			x[i] += 0.3 * (w - last) * (1 + depth*math.Cos(2*math.Pi*float64(i)/128))
			last = w
		}
		return extract(x, rateHz).Get("coherence.band2.mean")
	}
	if a, b := with(1), with(0); !(a > b+0.15) {
		t.Errorf("got %v for noise in step with the pulses and %v for steady noise, want more", a, b)
	}
}

// TestFloorIsThePercentile compares floors with sorting the frames of a block.
func TestFloorIsThePercentile(t *testing.T) {
	const rounding = 1e-14 // of a logarithm of magnitude up to 5
	rng := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{1, 9, 15, 48, 49, 100} {
		var f floors
		f.reset(n)
		frames := make([][]float64, n)
		for i := range frames {
			frames[i] = make([]float64, fineBins)
			for k := range frames[i] {
				frames[i][k] = math.Exp(rng.NormFloat64())
			}
			f.add(slices.Clone(frames[i]), i, n)
		}
		for b, row := range f.blocks.tracks {
			block := frames[b*floorBlock : min((b+1)*floorBlock, n)]
			for _, k := range []int{0, 17, fineBins - 1} {
				var x []float64
				for _, frame := range block {
					x = append(x, frame[k])
				}
				slices.Sort(x)
				if want := math.Log(x[(len(x)-1)/10]); !(math.Abs(row[k]-want) <= rounding) {
					t.Fatalf("%d frames, block %d, bin %d: got %v, want %v", n, b, k, row[k], want)
				}
			}
		}
	}
}

// TestPredictorOfATone measures a sine in noise: x[n] ≈ 2·cos ω·x[n−1] − x[n−2]
// makes the first coefficient positive at a low frequency and negative at a high
// one.
func TestPredictorOfATone(t *testing.T) {
	tone := func(f float64) float64 {
		rng := rand.New(rand.NewPCG(1, 1))
		x := make([]float64, 2*rateHz)
		for i := range x {
			x[i] = math.Sin(2*math.Pi*f*float64(i)/rateHz) + 0.3*rng.NormFloat64()
		}
		return extract(x, rateHz).Get("lpc.a1.mean")
	}
	if low, high := tone(500), tone(6000); !(low > high+0.15) {
		t.Errorf("got a1 = %v at 500 Hz and %v at 6 kHz, want more", low, high)
	}
}
