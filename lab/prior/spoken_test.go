package prior

import (
	"cmp"
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

var heldOut = flag.Bool("heldout", false, "score the shared speakers whose recordings are not in the norms, in each way of speaking; two minutes")

// spoken is what a model says of recordings in one way of speaking.
type spoken struct {
	n, positive, above float64 // recordings, positive ones, and those at or above the cut of 10
	ratio              []float64
}

// add scores a recording. way is what the model is given, 0 for unknown.
func (s *spoken) add(t *testing.T, b *models.Bayes, v features.Vector, sex screen.Gender, way screen.Speech) {
	t.Helper()
	got, err := b.Score(t.Context(), &features.Recording{Features: v, Speech: way, Metadata: screen.Metadata{Gender: sex}})
	if err != nil {
		t.Fatal(err)
	}
	s.n++
	s.positive += float64(stats.Indicator(got[0].Decision == screen.Positive))
	s.above += float64(stats.Indicator(got[0].Probability >= b.File().Cuts[0].Probability))
	s.ratio = append(s.ratio, got[0].Probability/Depression().AtLeast[models.DecisionBand])
}

// median returns the median probability over the base rate.
func (s *spoken) median() float64 {
	slices.SortFunc(s.ratio, cmp.Compare[float64])
	return s.ratio[len(s.ratio)/2]
}

// What is asked of people without labels. A share of 0.26 is meant to be at or above
// the cut: the people below a score of 10 times one less the specificity.
var (
	knownShare, knownMedian     = [2]float64{0.20, 0.32}, [2]float64{0.8, 1.25}
	unknownShare, unknownMedian = 0.35, [2]float64{0.7, 1.45}
)

// checkSpoken compares with what is asked. lenient is added to either side: a standard
// error of few people.
func checkSpoken(t *testing.T, way screen.Speech, known, unknown *spoken, lenient float64) {
	t.Helper()
	for k, r := range map[string]*spoken{"known": known, "unknown": unknown} {
		t.Logf("%v, %s: n %v, positive %.3f, at or above the cut %.3f, median %.3f of the base rate", way, k, r.n, r.positive/r.n, r.above/r.n, r.median())
	}
	if at := known.above / known.n; at < knownShare[0]-lenient || at > knownShare[1]+lenient {
		t.Errorf("%v: got a share of %.3f at or above the cut, want %v", way, at, knownShare)
	}
	if at := known.positive / known.n; at > knownShare[1]+lenient {
		t.Errorf("%v: got a share of %.3f positive, want at most %v", way, at, knownShare[1])
	}
	if at := known.median(); at < knownMedian[0]-lenient || at > knownMedian[1]+lenient {
		t.Errorf("%v: got a median of %.3f of the base rate, want %v", way, at, knownMedian)
	}
	if at := unknown.positive / unknown.n; at > unknownShare+lenient {
		t.Errorf("%v, unknown: got a share of %.3f positive, want at most %v", way, at, unknownShare)
	}
	if at := unknown.median(); at < unknownMedian[0]-lenient || at > unknownMedian[1]+lenient {
		t.Errorf("%v, unknown: got a median of %.3f of the base rate, want %v", way, at, unknownMedian)
	}
}

// timing returns the features of 60 s of a person with drawn pauses and so many
// syllables per second of speech, as the engine's own detector would find them: pauses
// of 0.2 s and more between stretches of speech.
func timing(sp speaker, rate float64, rng *rand.Rand) features.Vector {
	a := &dsp.Analysis{Duration: normLength, Quality: dsp.Quality{SNR: 40}}
	for at := 0.0; at < normLength; {
		end := min(at+max(sp.stretch.draw(rng), leastStretch), normLength)
		if n := len(a.Speech); n > 0 && at-a.Speech[n-1].End < 0.2 {
			a.Speech[n-1].End = end
		} else {
			if n > 0 {
				a.Pauses = append(a.Pauses, dsp.Segment{Start: a.Speech[n-1].End, End: at})
			}
			a.Speech = append(a.Speech, dsp.Segment{Start: at, End: end})
		}
		for t := at; t < end; {
			a.Syllables = append(a.Syllables, t)
			t += (0.6 + 0.8*rng.Float64()) / rate
		}
		at = end + min(sp.pause.draw(rng), longestPause)
	}
	return features.Extract(a)
}

// TestAveragePersonIsNotPositive draws people who pause as people do in each way of
// speaking, with the other features of the norms, and checks the level of the scores.
// With norms of read speech for all of them most free speakers are positive.
func TestAveragePersonIsNotPositive(t *testing.T) {
	const people = 1500
	f := priorFile(t, Depression())
	b, err := models.NewBayes(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range screen.Speeches() {
		var known, unknown spoken
		rng := rand.New(rand.NewPCG(21, uint64(s)))
		for i := range people {
			sex, side := screen.Female, i%2
			if side == 1 {
				sex = screen.Male
			}
			own := drawn{f, s, sex, rng}
			v := timing(drawSpeaker(s, side, rng), math.Exp(own.draw("articulation.rate_syl_s", 0, 0)), rng)
			for j := range f.Features {
				x := &f.Features[j]
				switch {
				case x.Name == "loudness.peak_gap_sd_s": // goes with the pauses
					mean, r := own.goesWith(x.Name, "pause.sd_s", v)
					x.Put(v, own.draw(x.Name, mean, r))
				case !timed(x.Name):
					x.Put(v, own.draw(x.Name, 0, 0))
				}
			}
			known.add(t, b, v, sex, s)
			unknown.add(t, b, v, sex, 0)
		}
		checkSpoken(t, s, &known, &unknown, 0)
	}
}

// A drawn person draws features from the norms of a model.
type drawn struct {
	file *models.BayesFile
	way  screen.Speech
	sex  screen.Gender
	rng  *rand.Rand
}

// norm returns a feature and its norm.
func (d *drawn) norm(name string) (int, *models.BayesFeature, models.Spread) {
	i := slices.IndexFunc(d.file.Features, func(x models.BayesFeature) bool { return x.Name == name })
	x := &d.file.Features[i]
	if d.sex == screen.Male {
		return i, x, x.Norms.Of(d.way).Male
	}
	return i, x, x.Norms.Of(d.way).Female
}

// draw draws a transformed feature of a recording whose z has the given mean, -1 to 1
// times that of another feature.
func (d *drawn) draw(name string, mean, r float64) float64 {
	_, x, of := d.norm(name)
	return of.Center + of.Scale*(mean+math.Sqrt(1-r*r+x.Sampling.At(40, d.file.SampledAt))*d.rng.NormFloat64())
}

// goesWith returns the mean of the z of a feature given that of another one of v, and
// their correlation.
func (d *drawn) goesWith(name, other string, v features.Vector) (mean, r float64) {
	i, _, _ := d.norm(name)
	j, x, of := d.norm(other)
	r = d.file.Correlation[i][j]
	if z := (x.Value(v) - of.Center) / of.Scale; dsp.Finite(z) {
		return r * min(max(z, -clip), clip), r
	}
	return 0, 0
}

// TestHeldOutVoices scores the speech of people who are not in the norms, with pauses
// drawn as in each way of speaking.
func TestHeldOutVoices(t *testing.T) {
	if !*heldOut {
		return
	}
	const lenient = 0.06 // a standard error of a median of 57 people, each heard twice; of a share it is 0.04
	b, err := models.NewBayes(priorFile(t, Depression()))
	if err != nil {
		t.Fatal(err)
	}
	m, decode, ok := sharedSpeech(t)
	if !ok {
		t.Fatal("-heldout needs ../shared/speech beside the repository")
	}
	voices, _, _, err := hearVoices(t.Context(), m.Rows, "validate", decode)
	if err != nil {
		t.Fatal(err)
	}
	var known, unknown [3]spoken
	for draw := range 2 {
		for i, vectors := range speak(voices, uint64(7+draw), nil) {
			sex := screen.Male
			if voices[i].female {
				sex = screen.Female
			}
			for way, s := range screen.Speeches() {
				known[way].add(t, b, vectors[way], sex, s)
				unknown[way].add(t, b, vectors[way], sex, 0)
			}
		}
	}
	for way, s := range screen.Speeches() {
		checkSpoken(t, s, &known[way], &unknown[way], lenient)
	}
}
