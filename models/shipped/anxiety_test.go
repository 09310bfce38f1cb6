package shipped_test

import (
	"testing"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
)

// The shipped anxiety model answers with probability and class, and leaves its
// decision open at every base rate. The model of its file, given, decides.
func TestAnxietyLeavesItsDecisionOpen(t *testing.T) {
	scorers, err := shipped.Scorers()
	if err != nil {
		t.Fatal(err)
	}
	file, err := shipped.Bayes(screen.Anxiety)
	if err != nil {
		t.Fatal(err)
	}
	given, err := models.NewBayes(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, rate := range []float64{0, 0.02, 0.3, 0.9} {
		open, err := models.WithBaseRates(scorers[1], map[screen.Category]float64{screen.Anxiety: rate})
		if rate == 0 {
			open, err = scorers[1], nil
		}
		if err != nil {
			t.Fatal(err)
		}
		classes, decisions := map[screen.Severity]bool{}, map[screen.Decision]bool{}
		for z := -1.5; z <= 1.5; z += 0.1 {
			in := &features.Recording{Features: features.Vector{Schema: features.VoiceSchema(), Values: make([]float64, features.VoiceSchema().Len())}}
			in.Metadata.Gender = screen.Female
			for _, f := range file.Features {
				at := z
				if f.Weight < 0 {
					at = -z
				}
				f.Put(in.Features, f.Norms.Free.Female.Center+at*f.Norms.Free.Female.Scale)
			}
			s, err := open.Score(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if s[0].Decision != screen.Indeterminate || s[0].Band != screen.Open || !s[0].Severity.Valid() {
				t.Fatalf("base rate %v, z %.1f: got %v by %v, class %v, want an open decision and a class", rate, z, s[0].Decision, s[0].Band, s[0].Severity)
			}
			classes[s[0].Severity] = true
			if s, err = given.Score(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			decisions[s[0].Decision] = true
		}
		if rate < 0.5 && len(classes) < 2 || len(decisions) != 3 {
			t.Errorf("base rate %v: got classes %v, and decisions %v of the given model, want several classes and all decisions", rate, classes, decisions)
		}
	}
}
