package models_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

func TestTransforms(t *testing.T) {
	for _, c := range []struct {
		of   models.Transform
		x, y float64
	}{
		{models.Identity, -3, -3},
		{models.Log, math.E, 1},
		{models.Log, 0, math.Inf(-1)},
		{models.Log, -1, math.Inf(-1)},
		{models.LogOdds, 0.75, math.Log(3)},
		{models.LogOdds, 0, math.Inf(-1)},
		{models.LogOdds, 1, math.Inf(1)},
		{models.LogOdds, math.Inf(1), math.NaN()},
		{models.Log, math.NaN(), math.NaN()},
	} {
		got := c.of.Of(c.x)
		if !(math.Abs(got-c.y) < exact || got == c.y || math.IsNaN(got) && math.IsNaN(c.y)) {
			t.Errorf("%v of %v: got %v, want %v", c.of, c.x, got, c.y)
		}
		if dsp.Finite(c.y) {
			closeTo(t, c.of.String()+" and back", c.of.Inverse(got), c.x, 1e-12)
		}
	}
}

// spoken is bayesFile with longer pauses, in logarithms, the freer the speech.
func spoken() *models.BayesFile {
	f := bayesFile()
	for i := range 2 {
		x := &f.Features[i]
		x.Transform = models.Log
		at := func(seconds float64) models.Norm {
			return models.Norm{Female: models.Spread{Center: math.Log(seconds), Scale: 0.5}, Male: models.Spread{Center: math.Log(seconds) + 0.1, Scale: 0.5}}
		}
		x.Norms = models.Norms{Free: at(0.9), Picture: at(0.6), Reading: at(0.3)}
	}
	f.Speech = models.SpeechWeights{Free: 0.5, Picture: 0.3, Reading: 0.2, By: []string{"pause.mean_s", "pause.sd_s"}}
	return f
}

func TestNormsAreThoseOfTheWayOfSpeaking(t *testing.T) {
	b := bayes(t, spoken())
	for s, want := range map[screen.Speech]float64{screen.FreeSpeech: 0, screen.Picture: math.Log(0.9/0.6) / 0.5, screen.Reading: math.Log(3) / 0.5} {
		in := woman(map[string]float64{"pause.mean_s": 0.9, "pause.sd_s": 0.9, "level.mean_dbfs": -30})
		in.Speech = s
		r := b.Row(in)
		closeTo(t, s.String(), r.Z[0], want, exact)
		for i, p := range r.Speech {
			if want := map[bool]float64{true: 1}[i+1 == int(s)]; p != want {
				t.Errorf("%v: got probabilities %v of the ways of speaking, want 1 and 0", s, r.Speech)
			}
		}
	}
}

// TestUnknownSpeechIsAMixture holds the probabilities of the ways of speaking to
// Bayes' theorem, and the interval to the variance between the norms.
func TestUnknownSpeechIsAMixture(t *testing.T) {
	f := spoken()
	b := bayes(t, f)
	in := woman(map[string]float64{"pause.mean_s": 0.5, "pause.sd_s": 0.7, "level.mean_dbfs": -30})
	r := b.Row(in)
	// Two normal variables of correlation 0.6, in one scale for all ways.
	var w [3]float64
	var sum float64
	var z [3][2]float64
	for k, c := range []struct{ share, seconds float64 }{{0.5, 0.9}, {0.3, 0.6}, {0.2, 0.3}} {
		z[k] = [2]float64{math.Log(0.5/c.seconds) / 0.5, math.Log(0.7/c.seconds) / 0.5}
		x, y := z[k][0], z[k][1]
		w[k] = c.share * math.Exp(-(x*x-2*0.6*x*y+y*y)/(2*(1-0.36)))
		sum += w[k]
	}
	var mean, eta, square float64
	for k := range w {
		w[k] /= sum
		closeTo(t, "probability of "+screen.Speeches()[k].String(), r.Speech[k], w[k], exact)
		mean += w[k] * z[k][0]
		e := 0.8*z[k][0] + 0.5*z[k][1]
		eta, square = eta+w[k]*e, square+w[k]*e*e
	}
	closeTo(t, "z", r.Z[0], mean, exact)
	got := scoreOf(t, b, in)
	v := square - eta*eta
	closeTo(t, "probability", got.Probability, dsp.Logistic((eta-2)/math.Sqrt(1+math.Pi/8*v)), exact)
	unsure := 0.04*(r.Z[0]*r.Z[0]+r.Z[1]*r.Z[1]) + 0.64
	closeTo(t, "high", got.High, dsp.Logistic(eta-2+1.6448536269514722*math.Sqrt(v+unsure)), exact)

	in.Speech = screen.Picture
	if known := scoreOf(t, b, in); known.High-known.Low >= got.High-got.Low {
		t.Errorf("got an interval of %v with a known and %v with an unknown way of speaking, want it wider", known.High-known.Low, got.High-got.Low)
	}
	// Neither sex nor way of speaking: six norms.
	in.Speech, in.Metadata.Gender = 0, 0
	r = b.Row(in)
	closeTo(t, "sum of the probabilities", r.Speech[0]+r.Speech[1]+r.Speech[2], 1, exact)
	// No pauses measured: the weights of the file.
	r = b.Row(woman(map[string]float64{"level.mean_dbfs": -30}))
	closeTo(t, "probability of free speech without pauses", r.Speech[0], 0.5, exact)
}

// TestLittleSpeechShrinks draws features with a sampling error, and compares the
// mean of the true ones given the measured with what the model infers.
func TestLittleSpeechShrinks(t *testing.T) {
	f := bayesFile()
	f.Features[0].Sampling = models.Sampling{Variance: 0.5, Falls: 1}
	b := bayes(t, f)
	at := func(seconds float64) *features.Recording {
		return woman(map[string]float64{"pause.mean_s": 0.7, "pause.sd_s": 0.2, "level.mean_dbfs": -30, "speech.duration_s": seconds})
	}
	// z = 2 with the variance v of its error, beside an exact −1 of correlation 0.6
	// and an exact 0 of correlation 0.2: the others predict −0.6 with the variance
	// 1 − 0.36 − 0.04.
	for seconds, v := range map[float64]float64{60: 0.5, 30: 1, 120: 0.25, 0.1: 30, math.NaN(): 0.5} {
		left := 1 - 0.36 - 0.04
		got := b.Row(at(seconds))
		closeTo(t, "z", got.Z[0], -0.6+left/(left+v)*2.6, 1e-12)
		closeTo(t, "exact z", got.Z[1], -1, 1e-12)
		s := scoreOf(t, b, at(seconds))
		eta, missing := 0.8*got.Z[0]-0.5, 0.64*left*v/(left+v)
		closeTo(t, "probability", s.Probability, dsp.Logistic((eta-2)/math.Sqrt(1+math.Pi/8*missing)), 1e-12)
	}
	// The interval covers what is open of the feature and of its weight together.
	s := scoreOf(t, b, at(30))
	z, left := b.Row(at(30)).Z, 0.6/1.6
	v := 0.64*left + 0.04*(z[0]*z[0]+1+left) + 0.64
	closeTo(t, "high", s.High, dsp.Logistic(0.8*z[0]-0.5-2+1.6448536269514722*math.Sqrt(v)), 1e-12)
	short, long := scoreOf(t, b, at(30)), scoreOf(t, b, at(120))
	if short.Probability >= long.Probability || logits(short.High)-logits(short.Low) <= logits(long.High)-logits(long.Low) {
		t.Errorf("got %+v on 30 s and %+v on 120 s, want the first nearer to the base rate and wider", short, long)
	}
	// The definition, by simulation.
	rng := rand.New(rand.NewPCG(5, 6))
	var sum, n float64
	for range 2_000_000 {
		x := rng.NormFloat64()
		if z := x + math.Sqrt(0.5)*rng.NormFloat64(); math.Abs(z-1.5) < 0.1 {
			sum, n = sum+x, n+1
		}
	}
	alone := b.Row(woman(map[string]float64{"pause.mean_s": 0.65, "speech.duration_s": 60}))
	closeTo(t, "mean of the true", alone.Z[0], sum/n, 0.01)
}

// TestScoresDoNotDependOnTheRecordingBefore compares a scorer that is used again, by
// several goroutines, with a new one for each recording.
func TestScoresDoNotDependOnTheRecordingBefore(t *testing.T) {
	f := bayesFile()
	f.Features[0].Sampling = models.Sampling{Variance: 0.5, Falls: 1}
	used := bayes(t, f)
	var recordings []*features.Recording
	for _, seconds := range []float64{60, 60, 30, math.NaN()} {
		for _, pause := range []float64{0.7, 0.2, math.NaN()} {
			recordings = append(recordings, woman(map[string]float64{"pause.mean_s": pause, "pause.sd_s": 0.2, "level.mean_dbfs": -30, "speech.duration_s": seconds}))
		}
	}
	var want []screen.Score
	for _, in := range recordings {
		want = append(want, scoreOf(t, bayes(t, f), in))
	}
	var all sync.WaitGroup
	for seed := range uint64(4) {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(7, seed))
			for range 200 {
				i := rng.IntN(len(recordings))
				if got, err := used.Score(t.Context(), recordings[i]); err != nil || !reflect.DeepEqual(got[0], want[i]) {
					t.Errorf("recording %d: got %+v and error %v, want %+v", i, got, err, want[i])
				}
			}
		})
	}
	all.Wait()
}

func logits(p float64) float64 { return math.Log(p / (1 - p)) }

func TestNoiseIsTakenOut(t *testing.T) {
	f := bayesFile()
	f.Features[0].Noise = models.Noise{PerDB: 0.01, Below: 30}
	b := bayes(t, f)
	for snr, want := range map[float64]float64{40: 1, 30: 1, 20: 2, math.NaN(): 1, math.Inf(1): 1} {
		got := b.Row(woman(map[string]float64{"pause.mean_s": 0.6, "quality.snr_db": snr}))
		closeTo(t, "z", got.Z[0], want, 1e-9)
	}
}

func TestMeanOfFeatures(t *testing.T) {
	f := bayesFile()
	x := &f.Features[0]
	x.Name, x.Unit, x.Of, x.Transform = "mfcc.spread", "", []string{"mfcc.1.sd", "mfcc.2.sd"}, models.Log
	x.Norms = models.Alike(models.Norm{Female: models.Spread{Center: 1, Scale: 0.5}, Male: models.Spread{Center: 1, Scale: 0.5}})
	b := bayes(t, f)
	in := woman(map[string]float64{"mfcc.1.sd": math.Exp(1), "mfcc.2.sd": math.Exp(2), "pause.sd_s": 0.3, "level.mean_dbfs": -30})
	closeTo(t, "z", b.Row(in).Z[0], 1, exact)
	if c := scoreOf(t, b, in).Contributions[0]; c.Feature != "mfcc.spread" || math.Abs(c.Value-math.Exp(1.5)) > exact {
		t.Errorf("got contribution %+v, want the geometric mean of mfcc.spread", c)
	}
	if r := b.Row(woman(map[string]float64{"mfcc.1.sd": 3})); r.Measured[0] {
		t.Error("got a mean over a feature that was not measured, want none")
	}
	v := voice(nil)
	x.Put(v, 1.25)
	closeTo(t, "put and value", x.Value(v), 1.25, exact)
}
