package spoof

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
)

// relationRounding is how far sums in another order may differ, of correlations.
const relationRounding = 1e-9

// pearson is the definition, NaN of fewer than least pairs.
func pearson(x, y []float64, least int) float64 {
	if len(x) < least {
		return math.NaN()
	}
	var mx, my, xy, xx, yy float64
	for i := range x {
		mx += x[i] / float64(len(x))
		my += y[i] / float64(len(y))
	}
	for i := range x {
		xy += (x[i] - mx) * (y[i] - my)
		xx += (x[i] - mx) * (x[i] - mx)
		yy += (y[i] - my) * (y[i] - my)
	}
	return xy / math.Sqrt(xx*yy)
}

func near(a, b float64) bool {
	return math.Abs(a-b) <= relationRounding || math.IsNaN(a) && math.IsNaN(b)
}

func TestCorrelationEqualsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for _, n := range []int{0, 1, leastPairs - 1, leastPairs, 50, 1000} {
		x, y := make([]float64, n), make([]float64, n)
		var r relation
		for i := range x {
			x[i] = 5 + rng.NormFloat64()
			y[i] = 0.5*x[i] + rng.NormFloat64()
			r.add(x[i], y[i])
		}
		want := pearson(x, y, leastPairs)
		if got := correlation(x, y); !near(got, want) {
			t.Errorf("%d pairs: got %v, want %v", n, got, want)
		}
		if got := r.correlation(); !near(got, want) {
			t.Errorf("%d pairs, one by one: got %v, want %v", n, got, want)
		}
	}
	var same relation
	for range 20 {
		same.add(1, 2)
	}
	if got := same.correlation(); got >= -1 && got <= 1 && got != 0 && !math.IsNaN(got) {
		t.Errorf("constants: got %v, want NaN or within ±1", got)
	}
}

// slowBands computes loudness, next, second and the tetrads by their definitions from the
// tracks.
func slowBands(e *envelopes) (out []float64) {
	change := func(track []float64, l int) (c []float64) {
		for t := range track {
			if t >= l && t+l < len(track) && e.voiced[t-l] && e.voiced[t] && e.voiced[t+l] {
				c = append(c, track[t+l]-track[t-l])
			}
		}
		return c
	}
	var loud []float64
	for t := range e.voiced {
		var sum float64
		for _, track := range e.bands.tracks {
			sum += math.Exp(track[t])
		}
		loud = append(loud, math.Log(sum))
	}
	for _, track := range e.bands.tracks {
		x, y := change(loud, loudLag/2), change(track, loudLag/2)
		var xx, xy float64
		for i := range x {
			xx += x[i] * x[i]
			xy += x[i] * y[i]
		}
		out = append(out, xy/xx)
	}
	for distance := 1; distance <= 2; distance++ {
		for b := range len(e.bands.tracks) - distance {
			out = append(out, pearson(change(e.bands.tracks[b], bandLag/2), change(e.bands.tracks[b+distance], bandLag/2), leastPairs))
		}
	}
	for _, l := range []int{4, 8, 16} {
		for b := range len(e.bands.tracks) - 3 {
			r := func(i, j int) float64 {
				return math.Max(pearson(change(e.bands.tracks[b+i], l), change(e.bands.tracks[b+j], l), leastPairs), 0.02)
			}
			out = append(out, math.Log(r(0, 1)*r(2, 3)/(r(0, 2)*r(1, 3))))
		}
	}
	return out
}

func TestRelationsEqualDefinitions(t *testing.T) {
	x := speech(t)
	e := track(x, dsp.SampleRate)
	got := e.Vector(nil, 0, e.Duration()).Values
	check := func(first string, want []float64) {
		t.Helper()
		for i, w := range want {
			name, _ := schema.Feature(schema.Index(first) + i)
			if v := got[schema.Index(first)+i]; !near(v, w) || math.IsNaN(w) {
				t.Errorf("%s: got %v, want %v", name, v, w)
			}
		}
	}
	check("envelope.voiced.band1.loudness", slowBands(e.envelope))

	p := e.periods
	var level, step, loud []float64
	between := func(x, y []float64, lag int) float64 {
		var a, b []float64
		for t := range p.frames.on {
			on := t >= lag
			for u := t; on && u >= t-lag; u-- {
				on = p.frames.on[u]
			}
			if !on {
				continue
			}
			if lag == 0 {
				a, b = append(a, x[t]), append(b, y[t])
			} else {
				a, b = append(a, x[t]-x[t-lag]), append(b, y[t]-y[t-lag])
			}
		}
		return pearson(a, b, leastPairs)
	}
	power := make([]float64, len(p.frames.power))
	dsp.Log(power, p.frames.power)
	for a, one := range p.bands.tracks {
		for _, other := range p.bands.tracks[a+1:] {
			level, step = append(level, between(one, other, 0)), append(step, between(one, other, periodicityLag))
		}
		loud = append(loud, between(one, power, 1))
	}
	check("periodicity.bands.1_2.level", level)
	check("periodicity.bands.1_2.step", step)
	check("periodicity.band1.loudness", loud)

	var shapes []float64
	for _, track := range e.residual.measures.tracks {
		var x []float64
		for t, on := range e.residual.active.on {
			if on && voicedAt(e.voice.f0, t*lpcHop+lpcFrame/2) {
				x = append(x, track[t])
			}
		}
		_, m2, m3, m4 := dsp.CentralMoments(x)
		shapes = append(shapes, m3/math.Pow(m2, 1.5), math.Log(m4/(m2*m2)))
	}
	check("lpc.voiced.gain_log.skew", shapes)
}

// tetradOf returns the tetrad over 16 ms of the first four bands of envelopes.
func tetradOf(tracks [][]float64) float64 {
	n := len(tracks[0])
	e := &envelopes{voiced: make([]bool, n), loudness: make([]float64, n)}
	e.bands.reset(len(envelopeBands)-1, n)
	for t := range n {
		e.voiced[t] = true
		for b := range e.bands.tracks {
			e.bands.tracks[b][t] = tracks[min(b, len(tracks)-1)][t]
		}
	}
	v := &vector{out: make([]float64, schema.Len()), hi: n * envelopeHop, length: n * envelopeHop}
	v.bands(e)
	return v.out[schema.Index("envelope.voiced.band1.tetrad_16ms")]
}

// TestTetradsOfKnownBands: bands that one cause moves have a tetrad of 0, whatever each has
// of it and whatever its own noise is; bands that move with their neighbours more than with
// those further off have one above 0.
func TestTetradsOfKnownBands(t *testing.T) {
	const n = 20000
	rng := rand.New(rand.NewPCG(4, 4))
	noise := func(size float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = size * rng.NormFloat64()
		}
		return x
	}
	cause := noise(1)
	var one, chain [][]float64
	for b, share := range []float64{1, 0.7, 1.5, 0.5} {
		own, link := noise(0.3+0.3*float64(b)), noise(1)
		track, linked := make([]float64, n), make([]float64, n)
		for i := range track {
			track[i] = share*cause[i] + own[i]
			linked[i] = link[i]
			if b > 0 {
				linked[i] += chain[b-1][i]
			}
		}
		one, chain = append(one, track), append(chain, linked)
	}
	if got := tetradOf(one); !(math.Abs(got) < 0.1) {
		t.Errorf("one cause and noise: got %v, want 0", got)
	}
	// Correlations of a random walk over bands, with variances 1 to 4: r₁₂·r₃₄/(r₁₃·r₂₄) =
	// √(1/2·3/4) / √(1/3·2/4) = 1.5.
	if got, want := tetradOf(chain), math.Log(1.5); !(math.Abs(got-want) < 0.1) {
		t.Errorf("bands that follow their neighbours: got %v, want %v", got, want)
	}
}

// changesOf returns the six features of pulses whose periods and amplitudes are given.
func changesOf(periods, amplitudes []float64) []float64 {
	v := &vector{out: make([]float64, schema.Len())}
	times := []float64{0}
	for _, p := range periods {
		times = append(times, times[len(times)-1]+p)
	}
	v.pulseChanges(times, amplitudes)
	first := schema.Index("perturbation.change_correlation")
	return v.out[first : first+6]
}

// TestPulseChangesOfKnownPulses makes pulses whose changes are known: those of the
// amplitude follow those of the period, each change is the opposite of the one before.
func TestPulseChangesOfKnownPulses(t *testing.T) {
	var periods, amplitudes []float64
	amplitudes = append(amplitudes, 1)
	for i := range 60 {
		size := 1 + 0.01*float64(i/2)
		sign := float64(1 - 2*(i%2))
		periods = append(periods, 0.008*math.Exp(0.005*sign*size))
		amplitudes = append(amplitudes, math.Exp(0.05*sign*size))
	}
	got := changesOf(periods, amplitudes)
	for k, want := range []float64{1, 1, -1, -1} { // of the two, their sizes, and each with itself
		if math.Abs(got[k]-want) > 0.02 {
			t.Errorf("feature %d: got %v, want %v", k, got[k], want)
		}
	}
	for k := 4; k < 6; k++ { // the sizes grow slowly
		if !(got[k] > 0.9) {
			t.Errorf("feature %d: got %v, want nearly 1", k, got[k])
		}
	}
	rng := rand.New(rand.NewPCG(6, 6))
	periods, amplitudes = nil, []float64{1}
	for range 5000 {
		periods, amplitudes = append(periods, 0.008*math.Exp(0.01*rng.NormFloat64())), append(amplitudes, math.Exp(0.05*rng.NormFloat64()))
	}
	// Differences of independent values have a correlation of −½ with the next.
	for k, want := range []float64{0, 0, -0.5, -0.5} {
		if got := changesOf(periods, amplitudes)[k]; math.Abs(got-want) > 0.06 {
			t.Errorf("independent pulses, feature %d: got %v, want %v", k, got, want)
		}
	}
}

// A pulse out of range parts what is before it from what is after it.
func TestPulseChangesLeaveOutGaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	var periods, amplitudes []float64
	amplitudes = append(amplitudes, 1)
	for i := range 90 {
		p := 0.007 * math.Exp(0.01*rng.NormFloat64())
		if i%30 == 29 {
			p = 0.05 // a pause
		}
		periods, amplitudes = append(periods, p), append(amplitudes, math.Exp(0.05*rng.NormFloat64()))
	}
	var x, y, a, b []float64
	for i := 1; i < len(periods); i++ {
		if periods[i] > 0.02 || periods[i-1] > 0.02 {
			continue
		}
		x, y = append(x, math.Log(periods[i]/periods[i-1])), append(y, math.Log(amplitudes[i+1]/amplitudes[i]))
		if i > 1 && periods[i-2] <= 0.02 {
			a, b = append(a, math.Log(periods[i-1]/periods[i-2])), append(b, math.Log(periods[i]/periods[i-1]))
		}
	}
	got := changesOf(periods, amplitudes)
	if want := pearson(x, y, leastPairs); !near(got[0], want) {
		t.Errorf("correlation: got %v, want %v", got[0], want)
	}
	if want := pearson(a, b, leastPairs); !near(got[2], want) {
		t.Errorf("persistence: got %v, want %v", got[2], want)
	}
	for k, v := range changesOf(periods[:leastPairs], amplitudes[:leastPairs+1]) {
		if !math.IsNaN(v) {
			t.Errorf("few pulses, feature %d: got %v, want NaN", k, v)
		}
	}
}
