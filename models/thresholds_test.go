package models_test

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/cost"
	"github.com/voicescreen/voicescreen/models"
)

func ptr(v float64) *float64 { return &v }

func TestThresholdsApply(t *testing.T) {
	band := models.Thresholds{Low: ptr(0.3), High: ptr(0.6)}
	single := models.Thresholds{Low: ptr(0.5), High: ptr(0.5)}
	classes := models.Thresholds{Classes: []float64{0.2, 0.7}}
	for _, c := range []struct {
		name     string
		t        models.Thresholds
		p        float64
		decision models.Decision
		severity int
	}{
		{"below the band", band, 0.29, models.Negative, 2},
		{"lower bound", band, 0.3, models.Indeterminate, 2},
		{"upper bound", band, 0.6, models.Indeterminate, 2},
		{"above the band", band, 0.61, models.Positive, 2},
		{"below one threshold", single, 0.499, models.Negative, 2},
		{"at one threshold", single, 0.5, models.Positive, 2},
		{"first class", classes, 0.19, models.Indeterminate, 1},
		{"second class", classes, 0.2, models.Indeterminate, 2},
		{"third class", classes, 0.7, models.Indeterminate, 3},
		{"another model", models.Thresholds{Model: "n", Low: ptr(0), High: ptr(0), Classes: []float64{0, 0}}, 0.5, models.Indeterminate, 2},
		{"another version", models.Thresholds{Model: "m", Version: "2", Low: ptr(0), High: ptr(0)}, 0.5, models.Indeterminate, 2},
		{"this version", models.Thresholds{Model: "m", Version: "1", Low: ptr(0), High: ptr(0)}, 0.5, models.Positive, 2},
	} {
		s := models.Score{Category: models.Depression, Model: "m", Version: "1", Probability: c.p, Decision: models.Indeterminate, Severity: 2}
		c.t.Apply(&s)
		if s.Decision != c.decision || s.Severity != c.severity {
			t.Errorf("%s: got %v, class %d, want %v, class %d", c.name, s.Decision, s.Severity, c.decision, c.severity)
		}
	}
	none := models.Score{Category: models.Depression, Probability: 0.9} // of a model without classes
	classes.Apply(&none)
	if none.Severity != 0 {
		t.Errorf("got class %d of a model that gives none", none.Severity)
	}
}

func TestAccountThresholds(t *testing.T) {
	a := models.AccountThresholds{
		models.AllAccounts: {models.Deepfake: {Low: ptr(0.1), High: ptr(0.1)}},
		"clinic":           {models.Deepfake: {Low: ptr(0.9), High: ptr(0.9)}},
	}
	for account, want := range map[string]models.Decision{"clinic": models.Negative, "other": models.Positive, "": models.Positive} {
		s := models.Score{Category: models.Deepfake, Probability: 0.5}
		a.Apply(account, &s)
		if s.Decision != want {
			t.Errorf("account %q: got %v, want %v", account, s.Decision, want)
		}
	}
	s := models.Score{Category: models.Anxiety, Probability: 0.5, Decision: models.Indeterminate}
	a.Apply("clinic", &s)
	if s.Decision != models.Indeterminate {
		t.Errorf("got %v by the thresholds of another category", s.Decision)
	}
	c := a.Clone()
	*c["clinic"][models.Deepfake].Low = 0
	if *a["clinic"][models.Deepfake].Low != 0.9 {
		t.Error("a copy shares what it was made from")
	}
}

func TestThresholdsFile(t *testing.T) {
	a := models.AccountThresholds{"clinic": {
		models.Anxiety: {Model: "m", Version: "1", Low: ptr(0.25), High: ptr(0.5), Classes: []float64{0.1, 0.2, 0.3}, ChosenOn: "20 recordings"},
	}}
	var b bytes.Buffer
	if err := models.WriteThresholds(&b, a); err != nil {
		t.Fatal(err)
	}
	if got, err := models.ReadThresholds(&b); err != nil || !reflect.DeepEqual(got, a) {
		t.Errorf("got %v, %v, want what was written", got, err)
	}
	const head = `{"format":"voicescreen-thresholds/1","accounts":{"":`
	for name, text := range map[string]string{
		"no JSON":                    "x",
		"another format":             `{"format":"voicescreen-thresholds/9"}`,
		"another category":           head + `{"joy":{}}}}`,
		"low without high":           head + `{"anxiety":{"low":0.5}}}}`,
		"low above high":             head + `{"anxiety":{"low":0.5,"high":0.4}}}}`,
		"beyond one":                 head + `{"anxiety":{"low":0.5,"high":1.4}}}}`,
		"too few classes":            head + `{"anxiety":{"classes":[0.1,0.2]}}}}`,
		"classes of what has none":   head + `{"deepfake":{"classes":[0.1]}}}}`,
		"classes that do not ascend": head + `{"depression":{"classes":[0.3,0.2]}}}}`,
		"larger than a file can be":  head + `{}}}` + strings.Repeat(" ", 2<<20),
		"a field that is unknown":    head + `{"anxiety":{"lo":0.5,"high":0.6}}}}`,
		"a field twice":              head + `{"anxiety":{"low":0.5,"low":0.4,"high":0.6}}}}`,
		"more behind the end":        head + `{}}}{}`,
		"no accounts":                `{"format":"voicescreen-thresholds/1"}`,
	} {
		if _, err := models.ReadThresholds(strings.NewReader(text)); !errors.Is(err, models.ErrThresholds) {
			t.Errorf("%s: got %v, want ErrThresholds", name, err)
		}
	}
	many := models.AccountThresholds{}
	for i := range 501 {
		many[strconv.Itoa(i)] = nil
	}
	if err := models.WriteThresholds(&b, many); !errors.Is(err, models.ErrThresholds) {
		t.Errorf("got %v, want ErrThresholds for more accounts than can be read", err)
	}
	bad := models.AccountThresholds{"": {models.Depression: {Classes: []float64{math.NaN(), 1}}}}
	if err := models.WriteThresholds(&b, bad); !errors.Is(err, models.ErrThresholds) {
		t.Errorf("got %v, want ErrThresholds for what is no number", err)
	}
}

func FuzzReadThresholds(f *testing.F) {
	f.Add(`{"format":"voicescreen-thresholds/1","accounts":{"":{"anxiety":{"low":0.5,"high":0.6,"classes":[0,0,1]}}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var a models.AccountThresholds
		var err error
		cost.Check(t, len(text), func() { a, err = models.ReadThresholds(strings.NewReader(text)) })
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := models.WriteThresholds(&b, a); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		for c := models.Depression; c <= models.Deepfake; c++ {
			s := models.Score{Category: c, Probability: 0.5, Severity: 1, Decision: models.Negative}
			a.Apply("", &s)
			if s.Decision == 0 || s.Severity < 1 || s.Severity > max(len(models.SeverityNames(c)), 1) {
				t.Fatalf("got %+v", s)
			}
		}
	})
}
