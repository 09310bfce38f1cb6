package spoof

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
)

// track returns an Extractor that measured x.
func track(x []float64, rate int) *Extractor {
	e := NewExtractor()
	e.Track(x, rate)
	return e
}

// TestSpoofVectorOfPart compares the features of a part with those of the same
// samples alone. Only the frames at the ends, the level and the dither differ, so
// that means over frames agree.
func TestSpoofVectorOfPart(t *testing.T) {
	x := speech(t)
	tracks := track(x, dsp.SampleRate)
	if got, want := tracks.Duration(), float64(len(x))/dsp.SampleRate; got != want {
		t.Fatalf("got %v s, want %v", got, want)
	}
	whole, extracted := tracks.Vector(nil, 0, tracks.Duration()), extract(x, dsp.SampleRate)
	for i, v := range whole.Values {
		if w := extracted.Values[i]; v != w && !(math.IsNaN(v) && math.IsNaN(w)) {
			name, _ := schema.Feature(i)
			t.Errorf("%s: got %v of the whole, %v extracted", name, v, w)
		}
	}
	const from, to = 1, 3
	part, alone := tracks.Vector(nil, from, to), extract(x[from*dsp.SampleRate:to*dsp.SampleRate], dsp.SampleRate)
	for name, most := range map[string]float64{
		"pitch.sd_oct": 0.03, "periodicity.mean_db": 1, "lpc.a1.mean": 0.1, "periodicity.bands.2_3.level": 0.1,
		"quefrency.band3.mean_log": 0.2, "envelope.voiced.band5.next": 0.1, "envelope.voiced.band3.step_sd_log": 0.15,
	} {
		if a, b := part.Get(name), alone.Get(name); !(math.Abs(a-b) <= most) {
			t.Errorf("%s: got %v of the part, %v of it alone", name, a, b)
		}
	}
	for _, c := range [][2]float64{{3, 1}, {-2, -1}, {100, 200}, {math.NaN(), 1}, {1, math.NaN()}, {2, 2}} {
		for _, v := range tracks.Vector(nil, c[0], c[1]).Values {
			if !math.IsNaN(v) {
				t.Errorf("%v: got %v, want NaN", c, v)
				break
			}
		}
	}
	for _, v := range tracks.Vector(nil, math.Inf(-1), math.Inf(1)).Values[:len(pitchFeatures)] {
		if math.IsNaN(v) {
			t.Error("all of time: got NaN")
		}
	}
}

// TestSpoofVectorIsOfItsPart puts half a second of noise into steady pulses: only
// the second that has the noise is less voiced.
func TestSpoofVectorIsOfItsPart(t *testing.T) {
	x := pulses(6, func(int) float64 { return 100.5 })
	for i, v := range noise(0.5) {
		x[3*rateHz+4000+i] = 5 * v
	}
	tracks := track(x, rateHz)
	for s := range 6 {
		got := tracks.Vector(nil, float64(s), float64(s+1)).Get("periodicity.voiced_ratio")
		if s == 3 && !(got < 0.7) || s != 3 && !(got > 0.97) {
			t.Errorf("second %d: got a voiced share of %v", s, got)
		}
	}
}

// TestSpoofPerturbation measures pulses of which each comes later by chance.
func TestSpoofPerturbation(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	rough := extract(pulses(3, func(int) float64 { return 120 * (1 + 0.01*rng.NormFloat64()) }), rateHz)
	// Differences of independent periods with 1 % deviation have a mean
	// magnitude of 2/√π %; RAP is of the deviation from the mean of three.
	if got, want := math.Exp(rough.Get("perturbation.jitter_local_log")), 0.02/math.Sqrt(math.Pi); math.Abs(got/want-1) > 0.15 {
		t.Errorf("got jitter %v, want %v", got, want)
	}
	if got, want := math.Exp(rough.Get("perturbation.jitter_rap_local_log")), 1/math.Sqrt(3); math.Abs(got/want-1) > 0.1 {
		t.Errorf("got %v of RAP over local jitter, want %v", got, want)
	}
}

// TestSpoofQuefrency measures an echo: at its delay the cepstrum rises.
func TestSpoofQuefrency(t *testing.T) {
	const delay = 1.75 // ms: the middle of band 5
	x := pulses(3, func(int) float64 { return 200.5 })
	for i, v := range noise(3) {
		x[i] += 0.3 * v
	}
	plain := extract(x, rateHz)
	y := slices.Clone(x)
	for i := int(delay * rateHz / 1000); i < len(x); i++ {
		y[i] += 0.7 * x[i-int(delay*rateHz/1000)]
	}
	echo := extract(y, rateHz)
	for b := range 6 {
		name := fmt.Sprintf("quefrency.band%d.mean_log", b+1)
		rise := echo.Get(name) - plain.Get(name)
		if b == 4 && !(rise > 2) || b != 4 && !(math.Abs(rise) < 1) {
			t.Errorf("%s: got a rise of %v", name, rise)
		}
	}
}

// TestSpoofEnvelope measures noise bursts that begin at once and decay.
func TestSpoofEnvelope(t *testing.T) {
	x := noise(3)
	for i := range x {
		x[i] *= math.Exp(-float64(i%800) / 300)
	}
	y := slices.Clone(x)
	slices.Reverse(y)
	a, b := extract(x, rateHz), extract(y, rateHz)
	for k := range len(envelopeBands) - 1 {
		name := fmt.Sprintf("envelope.unvoiced.band%d.step_skew", k+1)
		if u, w := a.Get(name), b.Get(name); !(u > 0.3 && w < -0.3 && math.Abs(u+w) < 0.3) {
			t.Errorf("%s: got %v, and %v backwards", name, u, w)
		}
	}
}

// TestDetrendEqualsDefinition compares with the median of every sorted window.
func TestDetrendEqualsDefinition(t *testing.T) {
	for _, n := range []int{1, 10, 16, 31, 200} {
		x := noise(0.1)[:n]
		x[n/2] = x[n/3] // a tie
		y := make([]float64, n)
		detrend(y, x)
		for k, got := range y {
			w := slices.Clone(x[max(k-fineTrend/2, 0):min(k+fineTrend/2+1, n)])
			slices.Sort(w)
			if want := x[k] - w[len(w)/2]; got != want {
				t.Fatalf("%d values: got %v at %d, want %v", n, got, k, want)
			}
		}
	}
}

// TestSpoofOfShortParts measures short recordings of many lengths and parts at
// random places: none panics, and no feature is infinite.
func TestSpoofOfShortParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	voice := pulses(1, func(int) float64 { return 130 })
	for n := 1; n < 6000; n += 1 + n/8 {
		tracks := track(voice[:n], rateHz)
		for range 5 {
			from := (rng.Float64()*1.5 - 0.25) * tracks.Duration()
			v := tracks.Vector(nil, from, from+rng.Float64()*tracks.Duration())
			for i, x := range v.Values {
				if math.IsInf(x, 0) {
					name, _ := schema.Feature(i)
					t.Fatalf("%d samples from %v s: got %s = %v", n, from, name, x)
				}
			}
		}
	}
}

// TestSpoofVoiceDoesNotDependOnTheDuration compares a rough voice of 2 s and of
// 20 s.
func TestSpoofVoiceDoesNotDependOnTheDuration(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	x := pulses(20, func(int) float64 { return 120 * (1 + 0.01*rng.NormFloat64()) })
	for i, v := range noise(20) {
		x[i] += 0.3 * v
	}
	short, long := extract(x[:2*rateHz], rateHz), extract(x, rateHz)
	for _, name := range []string{
		"perturbation.jitter_local_log", "perturbation.shimmer_apq5_log",
		"quefrency.band3.mean_log", "quefrency.band3.sd_log", "periodicity.band3.mean",
		"perturbation.period_persistence", "envelope.voiced.band4.step_sd_log", "envelope.voiced.band4.correlation",
	} {
		if a, b := short.Get(name), long.Get(name); !(math.Abs(a-b) < 0.15*math.Abs(b)) {
			t.Errorf("%s: got %v of 2 s, %v of 20 s", name, a, b)
		}
	}
}

// TestPeaksOfTheResidual measures trains of pulses through a resonance, which linear
// prediction takes away: all peaks point one way, whatever the polarity, and the level of
// each is that of the pulse.
func TestPeaksOfTheResidual(t *testing.T) {
	const louder = 1.3
	x := pulses(2, func(int) float64 { return 100 })
	steady := extract(x, rateHz)
	uneven := make([]float64, len(x)) // every second pulse is louder: as many waveforms of 200 samples, added
	two := pulses(2, func(int) float64 { return 200 })
	for i := range uneven {
		uneven[i] = two[i]
		if i >= 100 {
			uneven[i] += louder * two[i-100]
		}
	}
	alternating := extract(uneven, rateHz)
	for name, train := range map[string]features.Vector{"even": steady, "uneven": alternating} {
		if got := train.Get("pulse.polarity"); !(got > 0.95) {
			t.Errorf("%s: got the polarity %v, want nearly 1", name, got)
		}
	}
	if got := math.Exp(steady.Get("pulse.step_median_log")); !(got < 0.05) {
		t.Errorf("even pulses: got a step of %v, want nearly 0", got)
	}
	if got, want := math.Exp(alternating.Get("pulse.step_median_log")), 2*math.Log(louder); math.Abs(got/want-1) > 0.1 {
		t.Errorf("uneven pulses: got a step of %v, want %v", got, want)
	}
	rng := rand.New(rand.NewPCG(2, 1))
	for i := range x {
		x[i] = -x[i] - 0.15*rng.NormFloat64()
	}
	turned := extract(x, rateHz)
	for i := range x {
		x[i] = -x[i]
	}
	noisy := extract(x, rateHz)
	for _, f := range excitationFeatures {
		a, b := turned.Get(f[0]), noisy.Get(f[0])
		if math.Abs(a-b) > 0.1*max(math.Abs(b), 1) { // the dither is not turned
			t.Errorf("%s: got %v with the other polarity, want %v", f[0], a, b)
		}
	}
	if a, b := noisy.Get("pulse.step_mean_log"), steady.Get("pulse.step_mean_log"); !(a > b+0.1) {
		t.Errorf("got steps of %v with noise and %v without, want more", a, b)
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
