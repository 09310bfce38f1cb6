package models_test

import (
	"errors"
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/models"
)

func TestZIsTheDeviationFromWhatTheCovariatesExpect(t *testing.T) {
	covariates := []models.Covariate{{Name: "a", Center: 7, Scale: 0.5}, {Name: "b", Center: 1, Scale: 2}}
	f := &models.Feature{Center: 10, Scale: 4, Slopes: []float64{1, 0.5, -2, 0.25}}
	for _, c := range []struct{ x, a, b, want float64 }{
		{10, 7, 1, 0},
		{12, 7.5, 1, (12 - 10 - 1 - 0.5) / 4},
		{12, 6.5, 3, (12 - 10 + 1 - 0.5 + 2 - 0.25) / 4},
		{12, math.NaN(), math.Inf(1), 0.5},    // not measured: the center itself
		{12, 100, 1, (12 - 10 - 3 - 4.5) / 4}, // u is clipped to 3
		{1000, 7, 1, 3},
		{-1000, 7, 1, -3},
	} {
		u := models.Given(nil, covariates, 3, func(k int) float64 { return []float64{c.a, c.b}[k] })
		if got := f.Z(c.x, u, 3); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("x %v, covariates %v and %v: got %v, want %v", c.x, c.a, c.b, got, c.want)
		}
	}
	if got := (&models.Feature{Center: 1, Scale: 2}).Z(5, nil, 3); got != 2 {
		t.Errorf("without covariates: got %v, want 2", got)
	}
}

// TestScoresFollowCovariates scores a recording whose value is what its covariate lets
// expect as one without the feature.
func TestScoresFollowCovariates(t *testing.T) {
	f := small(models.Logit)
	plain := f.Features[0]
	f.Covariates = []models.Covariate{{Name: "f0.mean_hz", Unit: "Hz", Center: 120, Scale: 50}}
	for i := range f.Features {
		f.Features[i].Slopes = make([]float64, 2)
	}
	f.Features[0].Slopes = []float64{1.5, 0.5}
	l, err := models.NewLinear(f)
	if err != nil {
		t.Fatal(err)
	}
	v := voice(map[string]float64{plain.Name: plain.Center + 1.5 + 0.5, "f0.mean_hz": 170})
	s := l.ScoreVector(v)
	for _, c := range s.Contributions {
		if c.Feature == plain.Name && (c.Logits != 0 || c.Deviation != 0) {
			t.Errorf("got %v, want a contribution and deviation of 0", c)
		}
	}
	for name, spoil := range map[string]func(){
		"covariates[0].name":   func() { f.Covariates[0].Name = "no.such" },
		"covariates[0].scale":  func() { f.Covariates[0].Scale = 0 },
		"covariates[0].center": func() { f.Covariates[0].Center = math.NaN() },
		"features[0].slopes":   func() { f.Features[0].Slopes = f.Features[0].Slopes[:1] },
	} {
		kept, slopes := f.Covariates[0], f.Features[0].Slopes
		spoil()
		var fault *models.FileError
		if err := f.Check(); !errors.As(err, &fault) || fault.Path != name {
			t.Errorf("got %v, want a fault at %s", err, name)
		}
		f.Covariates[0], f.Features[0].Slopes = kept, slopes
	}
}
