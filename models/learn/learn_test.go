package learn

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

func TestLearnSaysWhatItLearnedFrom(t *testing.T) {
	prior := shippedFile(t, screen.Depression)
	base, err := models.NewBayes(prior)
	if err != nil {
		t.Fatal(err)
	}
	examples := population40(t, prior, 600, 4)
	for i := range examples {
		examples[i].Account = []string{"a", "b"}[i/2%2]
		examples[i].User = fmt.Sprint("user ", i/2) // two sessions each
	}
	got, err := Learn(t.Context(), prior, base, examples, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := got.File
	if !f.IsCalibrated || f.Version != prior.Version+"+600" || *f.Labels != (models.Labels{Sessions: 600, Users: 300, Accounts: 2, PHQ9: 600}) {
		t.Errorf("got version %s, calibrated %v, labels %+v", f.Version, f.IsCalibrated, f.Labels)
	}
	if !got.Better || got.New.LogScore <= got.Former.LogScore || len(f.Metrics) != 1 {
		t.Errorf("got %+v with metrics %v, want it better where the base rate is 0.4", got, f.Metrics)
	}
	again, err := Learn(t.Context(), prior, base, examples, nil)
	if err != nil || !reflect.DeepEqual(got, again) {
		t.Errorf("got another model the second time, error %v", err)
	}
	// What was learned is kept if nothing new comes.
	next, err := models.NewBayes(f)
	if err != nil {
		t.Fatal(err)
	}
	if once, err := Learn(t.Context(), prior, next, examples[:100], nil); err != nil || once.Better {
		t.Errorf("got %+v and error %v from a sixth of the labels, want the former model kept", once, err)
	}
}

// TestLearnGoesOn learns from some labels, and then from those and as many
// new ones: the former model is not to be judged by what it has seen.
func TestLearnGoesOn(t *testing.T) {
	prior := shippedFile(t, screen.Depression)
	base, err := models.NewBayes(prior)
	if err != nil {
		t.Fatal(err)
	}
	examples := population40(t, prior, 1600, 4)
	for i := range examples {
		examples[i].Time = time.Date(2026, 1, 1+i/400, 9, 0, 0, 0, time.UTC)
	}
	first, err := Learn(t.Context(), prior, base, examples[:400], nil)
	if err != nil || !first.Better || first.Fresh || first.File.Labels.To != "2026-01-01" {
		t.Fatalf("got %+v and error %v, want it learned", first, err)
	}
	former, err := models.NewBayes(first.File)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Learn(t.Context(), prior, former, examples, nil)
	if err != nil || !second.Better || !second.Fresh || second.New.Sessions != 1200 || second.Former.Sessions != 1200 {
		t.Errorf("got %+v and error %v, want it better on the 1200 new ones", second, err)
	}
	if second.File.Metrics[0].N != 1600 {
		t.Errorf("got metrics %+v, want those of all", second.File.Metrics)
	}
	few, err := Learn(t.Context(), prior, former, examples[:405], nil)
	if err != nil || few.Fresh || few.New.Sessions != 405 {
		t.Errorf("got %+v and error %v, want five new ones not to decide", few, err)
	}
}

// TestFiguresCountWhatTheyAreOf says that the AUC in the file is of the labels
// that leave no doubt, and not of the others.
func TestFiguresCountWhatTheyAreOf(t *testing.T) {
	prior := shippedFile(t, screen.Depression)
	base, err := models.NewBayes(prior)
	if err != nil {
		t.Fatal(err)
	}
	examples := population40(t, prior, 200, 4)
	each(examples[:80], func(e *Example) { e.Label, err = PHQ2Label([]int{1, 0}) })
	got, err := Learn(t.Context(), prior, base, examples, nil)
	if err != nil || len(got.File.Metrics) != 1 || got.File.Metrics[0].N != 120 || got.File.Labels.Sessions != 200 {
		t.Errorf("got metrics %+v and error %v, want an AUC of 120 of the 200 sessions", got.File.Metrics, err)
	}
}

func TestLearnRefusesWhatItCannotLearnFrom(t *testing.T) {
	prior := shippedFile(t, screen.Depression)
	base, err := models.NewBayes(prior)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func([]Example) []Example
		want   error
	}{
		"none":           {func(e []Example) []Example { return nil }, ErrFewLabels},
		"one user":       {func(e []Example) []Example { each(e, func(e *Example) { e.User = "u" }); return e }, ErrFewLabels},
		"one class":      {func(e []Example) []Example { each(e, func(e *Example) { e.Label = InterviewLabel(false) }); return e }, ErrFewLabels},
		"no recording":   {func(e []Example) []Example { e[3].Recording = nil; return e }, ErrLabel},
		"another schema": {func(e []Example) []Example { e[3].Recording = &features.Recording{}; return e }, ErrLabel},
		"no label":       {func(e []Example) []Example { e[3].Label = Label{}; return e }, ErrLabel},
		"NaN":            {func(e []Example) []Example { e[3].Label.Likelihood[1] = math.NaN(); return e }, ErrLabel},
	} {
		if _, err := Learn(t.Context(), prior, base, c.change(population40(t, prior, 60, 4)), nil); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// TestLearnFromPHQ2Alone learns where no label leaves no doubt: what can then not
// be measured is null.
func TestLearnFromPHQ2Alone(t *testing.T) {
	prior := shippedFile(t, screen.Depression)
	base, err := models.NewBayes(prior)
	if err != nil {
		t.Fatal(err)
	}
	examples := population40(t, prior, 100, 4)
	each(examples, func(e *Example) {
		positive, _ := e.Label.binary()
		if e.Label, err = PHQ2Label([]int{2 * stats.Indicator(positive), stats.Indicator(positive)}); err != nil {
			t.Fatal(err)
		}
	})
	got, err := Learn(t.Context(), prior, base, examples, nil)
	if err != nil || got.New.Sessions != 0 || len(got.File.Metrics) != 0 {
		t.Fatalf("got %+v and error %v, want it to learn and to know no AUC", got, err)
	}
	text, err := json.Marshal(got.New)
	if err != nil || !strings.Contains(string(text), `"auc":{"high":null,"low":null,"value":null},"ece":null`) {
		t.Errorf("got %s and error %v", text, err)
	}
}

// TestLearnFromPoorRecordings says that features that are constant or missing
// in all recordings leave the prior of their weights as it is, and give
// numbers.
func TestLearnFromPoorRecordings(t *testing.T) {
	prior := shippedFile(t, screen.Depression)
	base, err := models.NewBayes(prior)
	if err != nil {
		t.Fatal(err)
	}
	examples := population40(t, prior, 300, 4)
	schema := features.VoiceSchema()
	each(examples, func(e *Example) {
		e.Recording.Metadata = screen.Metadata{}
		e.Recording.FixedGain = false
		for _, name := range []string{"jitter.local", "f0.sd_st"} {
			e.Recording.Features.Values[schema.Index(name)] = math.NaN()
		}
		e.Recording.Features.Values[schema.Index("shimmer.local_db")] = 1
	})
	got, err := Learn(t.Context(), prior, base, examples, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.File.Check(); err != nil {
		t.Error(err)
	}
	if math.IsNaN(got.New.LogScore + got.New.AUC.Value + got.Former.ECE) {
		t.Errorf("got %+v, want numbers", got)
	}
}

// BenchmarkLearn10000 is a calibration on 10,000 labelled sessions, with its cross-validation.
func BenchmarkLearn10000(b *testing.B) {
	prior := shippedFile(b, screen.Depression)
	base, err := models.NewBayes(prior)
	if err != nil {
		b.Fatal(err)
	}
	examples := population40(b, prior, 10000, 4)
	for b.Loop() {
		if _, err := Learn(b.Context(), prior, base, examples, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// TestOneFactorRanksAsThePrior says that a model whose weights are those of the prior times
// one factor has the prior's AUC, whatever thresholds each fold found.
func TestOneFactorRanksAsThePrior(t *testing.T) {
	prior := shippedFile(t, screen.Depression)
	base, err := models.NewBayes(prior)
	if err != nil {
		t.Fatal(err)
	}
	recalibrated := 0
	for seed := range uint64(8) {
		got, err := Learn(t.Context(), prior, base, population40(t, prior, 60, seed), &LearnOptions{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if got.Kind != Recalibrated {
			continue
		}
		recalibrated++
		if math.Abs(got.New.AUC.Value-got.Former.AUC.Value) > 1e-12 || !got.Better {
			t.Errorf("seed %d: %s", seed, got.Verdict())
		}
	}
	if recalibrated < 4 {
		t.Errorf("got %d recalibrated models of 8, want more", recalibrated)
	}
}
