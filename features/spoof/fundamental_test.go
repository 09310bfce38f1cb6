package spoof

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
)

// slowFirst is the first harmonic at pulse i by its definition, NaN where it has none.
func slowFirst(x, pulses []float64, i int) (level, phase float64) {
	if i == 0 || i+1 == len(pulses) {
		return math.NaN(), 0
	}
	before, after := pulses[i]-pulses[i-1], pulses[i+1]-pulses[i]
	period, at := (before+after)/2*rateHz, pulses[i]*rateHz
	if before > 0.02 || after > 0.02 || before/after > 1.3 || after/before > 1.3 || at-period < 0 || at+period > float64(len(x)-1) {
		return math.NaN(), 0
	}
	var sum complex128
	for k, v := range x {
		if d := (float64(k) - at) / period; math.Abs(d) <= 1 {
			sum += complex(v*(0.5+0.5*math.Cos(math.Pi*d)), 0) * cmplx.Exp(complex(0, -2*math.Pi*d))
		}
	}
	return math.Log(cmplx.Abs(sum) / period), cmplx.Phase(sum)
}

// slowFundamental computes fundamental.* by their definitions.
func slowFundamental(x, pulses []float64) []float64 {
	n := len(pulses)
	level, phase, frequency := make([]float64, n), make([]float64, n), make([]float64, n)
	df, da := make([]float64, n), make([]float64, n)
	for i := range pulses {
		level[i], phase[i] = slowFirst(x, pulses, i)
		frequency[i], df[i], da[i] = math.NaN(), math.NaN(), math.NaN()
		if i > 0 && !math.IsNaN(level[i]) && !math.IsNaN(level[i-1]) {
			turn := phase[i] - phase[i-1]
			turn -= 2 * math.Pi * math.Round(turn/(2*math.Pi))
			frequency[i] = math.Log(2*math.Pi+turn) - math.Log(pulses[i]-pulses[i-1])
			df[i] = frequency[i] - frequency[i-1]
			if !math.IsNaN(df[i]) {
				da[i] = level[i] - level[i-1]
			}
		}
	}
	var size, fourth, square, count float64
	var f, a, lf, la []float64
	for i := range pulses {
		if !math.IsNaN(df[i]) {
			count++
			size, square, fourth = size+math.Abs(df[i]), square+df[i]*df[i], fourth+math.Pow(df[i], 4)
			f, a = append(f, df[i]), append(a, da[i])
			lf, la = append(lf, math.Log(math.Abs(df[i])+1e-4)), append(la, math.Log(math.Abs(da[i])+1e-3))
		}
	}
	after := func(track []float64, lag int) float64 {
		var x, y []float64
		for i := lag; i < n; i++ {
			on := true
			for k := range lag + 1 {
				on = on && !math.IsNaN(track[i-k])
			}
			if on {
				x, y = append(x, track[i-lag]), append(y, track[i])
			}
		}
		return pearson(x, y, leastPairs)
	}
	return []float64{math.Log(size / count), math.Log(fourth / count / math.Pow(square/count, 2)), after(df, 1), after(df, 2), after(da, 1), after(da, 2),
		pearson(f, a, leastPairs), pearson(lf, la, leastPairs)}
}

func TestFundamentalEqualsDefinition(t *testing.T) {
	e := track(speech(t), dsp.SampleRate)
	got := e.Vector(nil, 0, e.Duration()).Values[schema.Index("fundamental.step_log"):]
	for k, want := range slowFundamental(e.x, e.voice.pulses) {
		if name, _ := schema.Feature(schema.Index("fundamental.step_log") + k); !(math.Abs(got[k]-want) <= 1e-8) {
			t.Errorf("%s: got %v, want %v", name, got[k], want)
		}
	}
}

// ofPulses returns fundamental.* of samples whose pulses are given.
func ofPulses(x, pulses []float64) []float64 {
	v := &vector{out: make([]float64, schema.Len()), hi: len(x), length: len(x)}
	for i := range v.out {
		v.out[i] = math.NaN()
	}
	var f fundamentals
	f.measure(x, pulses)
	v.fundamental(&f, pulses)
	first := schema.Index("fundamental.step_log")
	return v.out[first : first+len(fundamentalFeatures)]
}

// harmonics are samples of a voice whose period in samples and whose amplitude at pulse
// i are given, of four harmonics of the given sizes, and the times of its pulses.
func harmonics(n int, sizes [4]float64, period, amplitude func(i int) float64) (x, pulses []float64) {
	at := 100.0
	for i := 0; at < float64(n); i++ {
		pulses = append(pulses, at/rateHz)
		from, to := at, at+period(i)
		for k := int(math.Ceil(from)); k < n && float64(k) < to; k++ {
			part := (float64(k) - from) / (to - from)
			a := (1-part)*amplitude(i) + part*amplitude(i+1)
			var sum float64
			for h, size := range sizes {
				sum += size * math.Cos(2*math.Pi*float64(h+1)*part)
			}
			x = append(x, a*sum)
		}
		at = to
	}
	return append(make([]float64, 100), x...), pulses
}

// TestFundamentalOfKnownVoice makes voices whose periods and amplitudes are known.
func TestFundamentalOfKnownVoice(t *testing.T) {
	steady := func(int) float64 { return 1 }
	x, pulses := harmonics(4*rateHz, [4]float64{1, 0.5, 0.5, 0.25}, func(int) float64 { return 127.3 }, steady)
	if got := ofPulses(x, pulses); !(got[0] < math.Log(2e-4)) { // the ends of the window lie between samples
		t.Errorf("steady voice: got a step of %v, want nearly none", math.Exp(got[0]))
	}

	// A slow vibrato of pitch and loudness goes on from pulse to pulse and moves both
	// together, whatever the other harmonics are.
	wave := func(depth float64) func(int) float64 {
		return func(i int) float64 { return depth * math.Sin(2*math.Pi*float64(i)/40) }
	}
	pitch, loud := wave(0.03), wave(0.2)
	x, pulses = harmonics(4*rateHz, [4]float64{1, 1, -0.5, 1}, func(i int) float64 { return 127.3 * math.Exp(-pitch(i)) }, func(i int) float64 { return math.Exp(loud(i)) })
	got := ofPulses(x, pulses)
	if want := math.Log(0.03 * 2 * math.Pi / 40 * 2 / math.Pi); math.Abs(got[0]-want) > 0.1 {
		t.Errorf("vibrato: got ln steps of %v, want %v", got[0], want)
	}
	if want := math.Log(1.5); math.Abs(got[1]-want) > 0.1 { // of a sine
		t.Errorf("vibrato: got ln kurtosis of %v, want %v", got[1], want)
	}
	for k := 2; k < 7; k++ {
		if !(got[k] > 0.9) {
			t.Errorf("vibrato, feature %d: got %v, want nearly 1", k, got[k])
		}
	}

	// Differences of independent values have a correlation of −½ with the next; the window
	// of two periods takes some of it away.
	rng := rand.New(rand.NewPCG(4, 4))
	rough := make([]float64, 2000)
	for i := range rough {
		rough[i] = 0.01 * rng.NormFloat64()
	}
	x, pulses = harmonics(8*rateHz, [4]float64{1, 0.5, 0.5, 0.25}, func(i int) float64 { return 127.3 * math.Exp(rough[i]) }, steady)
	if got := ofPulses(x, pulses); !(got[2] > -0.5 && got[2] < -0.2) || math.Abs(got[6]) > 0.1 {
		t.Errorf("rough voice: got %v", got)
	}
}

func TestFundamentalOfFewPulses(t *testing.T) {
	x, pulses := harmonics(rateHz, [4]float64{1, 0, 0, 0}, func(int) float64 { return 127.3 }, func(int) float64 { return 1 })
	for k, got := range ofPulses(x, pulses[:leastPairs+3]) { // the first and the last have no harmonic, two more no change
		if !math.IsNaN(got) {
			t.Errorf("feature %d of %d pulses: got %v, want NaN", k, leastPairs+3, got)
		}
	}
	if _, ok := firstHarmonic(make([]float64, 300), 100, 127); ok {
		t.Error("got a harmonic of samples that are not there")
	}
}
