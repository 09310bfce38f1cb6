package protocol

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
)

// madeTrials draws n sessions whose voices, or interviewers, differ by so many
// standard deviations in the features of the depression prior, in its
// direction. If sexed, three of four women are depressed, and few men.
func madeTrials(t *testing.T, n int, voice, interviewer float64, sexed bool) []Trial {
	t.Helper()
	prior := shippedDepression(t)
	rng := rand.New(rand.NewPCG(7, 8))
	vector := func(shift float64, sex screen.Gender) features.Vector {
		v := features.Vector{Schema: features.VoiceSchema(), Values: make([]float64, features.VoiceSchema().Len())}
		for i := range v.Values {
			v.Values[i] = math.NaN()
		}
		for _, f := range prior.Features {
			sign := 1.0
			if f.Weight < 0 {
				sign = -1
			}
			norm := f.Norms.Free.Male
			if sex == screen.Female {
				norm = f.Norms.Free.Female
			}
			f.Put(v, norm.Center+norm.Scale*(sign*shift+rng.NormFloat64()))
		}
		return v
	}
	trials := make([]Trial, n)
	for i := range trials {
		tr := &trials[i]
		tr.Speaker, tr.HasTotal = fmt.Sprintf("s%d", i), true
		tr.Recording = &features.Recording{Metadata: screen.Metadata{Gender: screen.Male, Age: 20 + rng.IntN(50)}}
		tr.Positive = rng.Float64() < 0.4
		if sexed {
			p := 0.15
			if rng.Float64() < 0.5 {
				tr.Recording.Metadata.Gender, p = screen.Female, 0.75
			}
			tr.Positive = rng.Float64() < p
		}
		tr.Total = rng.IntN(10)
		shift := 0.0
		if tr.Positive {
			tr.Total, shift = 10+rng.IntN(14), 1
		}
		sex := tr.Recording.Metadata.Gender
		tr.Recording.Features = vector(voice*shift, sex)
		tr.Interviewer = vector(interviewer*shift, sex)
		if i%3 == 2 {
			tr.Split = "dev"
		} else {
			tr.Split = "train"
		}
	}
	return trials
}

func shippedDepression(t *testing.T) *models.BayesFile {
	t.Helper()
	f, err := shipped.Bayes(screen.Depression)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func protocolOf(t *testing.T, trials []Trial) map[string]System {
	t.Helper()
	parts, err := Run(t.Context(), shippedDepression(t), trials, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) != 1 {
		t.Fatalf("got %d parts, want one", len(parts))
	}
	out := map[string]System{}
	for _, s := range parts[0].Systems {
		out[s.Name] = s
	}
	return out
}

// Each system finds what there is for it to find, and nothing where there is
// nothing: what only the interviewer's speech tells is not the voice's. A plain
// regression hears the sex of a person, which the prior, standardised within
// sex, does not.
func TestProtocolFindsWhatIsThere(t *testing.T) {
	const found, chance = 0.75, 0.62 // of 80 sessions, an AUC has a standard error of 0.06
	for name, c := range map[string]struct {
		trials                           []Trial
		voice, interviewer, demographics bool
	}{
		"in the voice":           {madeTrials(t, 240, 0.5, 0, false), true, false, false},
		"in the interviewer":     {madeTrials(t, 240, 0, 0.5, false), false, true, false},
		"in the sex of a person": {madeTrials(t, 240, 0, 0, true), false, false, true},
	} {
		got := protocolOf(t, c.trials)
		for system, there := range map[string]bool{
			"voice, regression": c.voice, "voice, prior and labels": c.voice, "voice, prior alone": c.voice,
			"interviewer alone": c.interviewer, "sex and age alone": c.demographics,
		} {
			if c.demographics && (system == "voice, regression" || system == "interviewer alone") {
				continue
			}
			s, ok := got[system]
			least := found
			if system == "sex and age alone" {
				least = 0.7 // 0.8 is expected of 0.15 and 0.75
			}
			if !ok || there && s.AUC < least || !there && s.AUC > chance {
				t.Errorf("%s: %s: got AUC %.3f (%v), there is something to find: %v", name, system, s.AUC, ok, there)
			}
			if there && (s.F1 < 0.5 || s.UAR < 0.6 || !(s.Low < s.AUC && s.AUC < s.High)) {
				t.Errorf("%s: %s: got %+v", name, system, s)
			}
		}
		if s := got["voice, regression"]; c.voice && (s.Totals.N != 80 || s.Totals.CCC < 0.3 || s.Totals.RMSE > 8) {
			t.Errorf("%s: got totals %+v", name, s.Totals)
		}
	}
}

// Some sessions have no turn of the interviewer, as 451, 458 and 480 of
// DAIC-WOZ: the control is on the others.
func TestProtocolWithoutSomeInterviewers(t *testing.T) {
	trials := madeTrials(t, 240, 0, 0.5, false)
	for i := range 12 {
		trials[i].Interviewer = features.Vector{}
	}
	got := protocolOf(t, trials)
	if s, ok := got["interviewer alone"]; !ok || s.N != 76 || s.AUC < 0.75 {
		t.Errorf("got %+v (%v), want the leak to be found on 76 sessions", s, ok)
	}
	if s := got["voice, regression"]; s.N != 80 {
		t.Errorf("got %+v, want the voice on all 80 sessions", s)
	}
}

// No speaker is on both sides, whatever the corpus gives.
func TestProtocolParts(t *testing.T) {
	trials := madeTrials(t, 60, 0, 0, false)
	for i := range trials {
		trials[i].Split = ""
		trials[i].Speaker = fmt.Sprintf("s%d", i/2)
		trials[i].Fold = 1 + i%5 // which parts two sessions of one speaker
	}
	for _, own := range []bool{true, false} {
		if !own {
			for i := range trials {
				trials[i].Fold = 0
			}
		}
		p := &protocol{trials: trials}
		parts := p.parts()
		tested := 0
		for _, f := range parts[0].folds {
			tested += len(f.Test)
			speakers := map[string]bool{}
			for _, i := range f.Test {
				speakers[trials[i].Speaker] = true
			}
			for _, i := range f.Train {
				if speakers[trials[i].Speaker] {
					t.Fatalf("own folds %v: %s is on both sides", own, trials[i].Speaker)
				}
			}
		}
		if len(parts) != 1 || tested != len(trials) {
			t.Errorf("own folds %v: got %d parts, %d tested", own, len(parts), tested)
		}
	}
}

// Few, one-sided and unknown: left out or measured, and never a number that is
// none in the place of one.
func TestProtocolOfLittle(t *testing.T) {
	trials := madeTrials(t, 24, 0.5, 0, false)
	for i := range trials {
		trials[i].Interviewer = features.Vector{}
		trials[i].Recording.Metadata = screen.Metadata{}
		trials[i].HasTotal = i%2 == 0
	}
	got := protocolOf(t, trials)
	for _, name := range []string{"interviewer alone", "sex and age alone", "voice, prior and labels"} {
		if _, ok := got[name]; ok {
			t.Errorf("%s: got figures from nothing", name)
		}
	}
	if s, ok := got["voice, regression"]; !ok || s.Totals.N != 0 {
		t.Errorf("got %+v, want classes and no totals", s)
	}
	for i := range trials {
		trials[i].Positive = trials[i].Split == "dev"
	}
	if s, ok := protocolOf(t, trials)["voice, regression"]; ok {
		t.Errorf("trained on one class: got %+v", s)
	}
}

// Each fold has a model with a level of its own. A model that orders people as the prior does
// has the prior's AUC all the same.
func TestFoldsDoNotRankAgainstEachOther(t *testing.T) {
	trials := madeTrials(t, 60, 0.15, 0, false)
	for i := range trials {
		trials[i].Split = ""
	}
	p := &protocol{trials: trials, prior: shippedDepression(t), seed: 1}
	part := p.parts()[0]
	if len(part.folds) < 2 {
		t.Fatalf("got %d folds, want several", len(part.folds))
	}
	plain, levelled := p.newPredicted(), p.newPredicted()
	for k, f := range part.folds {
		for _, q := range []*predicted{plain, levelled} {
			if ok, err := p.unlearned(t.Context(), f, q); err != nil || !ok {
				t.Fatal(ok, err)
			}
		}
		for _, i := range f.Test {
			levelled.score[i] += float64(k)
		}
	}
	if a, b := p.measure("", part, plain), p.measure("", part, levelled); math.Abs(a.AUC-b.AUC) > 1e-12 || math.Abs(a.Low-b.Low) > 1e-12 {
		t.Errorf("got an AUC of %v (from %v), with a level for each fold %v (from %v)", a.AUC, a.Low, b.AUC, b.Low)
	}
}
