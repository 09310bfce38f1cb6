package voicescreen

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
)

// TestLearnedDocumentsAreChecked reads as many models of all features as there
// may be, and documents that are not of learned models.
func TestLearnedDocumentsAreChecked(t *testing.T) {
	t.Parallel()
	const begin, end = `{"format":"voicescreen-learned/1","models":{"depression":[`, `]}}`
	fill := func(begin, unit, end string) string {
		return begin + strings.Repeat(unit, 1000) + end
	}
	prior, err := shipped.Bayes(screen.Depression)
	if err != nil {
		t.Fatal(err)
	}
	widest, schema := *prior, features.VoiceSchema()
	widest.Speech.By = nil
	widest.Features, widest.Correlation, widest.Covariance = nil, identity(schema.Len()), identity(schema.Len()+3)
	for i := range schema.Len() {
		name, unit := schema.Feature(i)
		one := models.Spread{Center: 1, Scale: 1}
		widest.Features = append(widest.Features, models.BayesFeature{Name: name, Unit: unit, Transform: models.Identity, Norms: models.Alike(models.Norm{Female: one, Male: one})})
	}
	b, err := json.Marshal(widest)
	if err != nil {
		t.Fatal(err)
	}
	model := string(b)
	all := begin + strings.Repeat(model+",", formerModels) + model + end
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"all models":          {all, true},
		"one more":            {begin + model + "," + all[len(begin):], false},
		"one model is null":   {begin + model + ",null" + end, false},
		"an empty model":      {begin + model + ",{}" + end, false},
		"of another category": {strings.Replace(all, `"depression":[`, `"anxiety":[`, 1), false},
		"null":                {fill(begin, `null,`, `null`+end), false},
		"empty models":        {fill(begin, `{},`, `{}`+end), false},
		"no models":           {fill(begin, `0,`, `0`+end), false},
		"an unknown field":    {strings.Replace(all, `"format"`, `"more":0,"format"`, 1), false},
		"more behind the end": {all + "{}", false},
		"a field too few":     {strings.Replace(all, `"format":"voicescreen-learned/1",`, "", 1), false},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := parseLearned([]byte(c.text))
			if (err == nil) != c.ok || c.ok && len(l.of[screen.Depression]) != formerModels+1 {
				t.Errorf("got error %v, want it read: %t", err, c.ok)
			}
		})
	}
}

// identity is the matrix of n rows with ones on its diagonal.
func identity(n int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
		m[i][i] = 1
	}
	return m
}

// TestAdaptedModelsDecideAsTheShippedOnes leaves open what the shipped model does.
func TestAdaptedModelsDecideAsTheShippedOnes(t *testing.T) {
	file, err := shipped.Bayes(screen.Anxiety)
	if err != nil {
		t.Fatal(err)
	}
	open := *file
	open.Indeterminate = models.Band{Low: 0, High: 1}
	for _, f := range []*models.BayesFile{file, &open} {
		b, err := models.NewBayes(f)
		if err != nil {
			t.Fatal(err)
		}
		if got := decidesAs(file, []models.Scorer{b}); got.Indeterminate != f.Indeterminate {
			t.Errorf("got the band %+v, want that of the shipped model, %+v", got.Indeterminate, f.Indeterminate)
		}
	}
	other := open
	other.Category = screen.Depression
	if got := decidesAs(&other, nil); got != &other {
		t.Error("a category that has no shipped model: got another model")
	}
}
