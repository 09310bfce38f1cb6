package screen_test

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/screen"
)

func ptr(v float64) *float64 { return &v }

func TestThresholdsApply(t *testing.T) {
	band := screen.Thresholds{Low: ptr(0.3), High: ptr(0.6)}
	single := screen.Thresholds{Low: ptr(0.5), High: ptr(0.5)}
	classes := screen.Thresholds{Classes: []float64{0.2, 0.7}}
	for _, c := range []struct {
		name     string
		t        screen.Thresholds
		p        float64
		decision screen.Decision
		severity screen.Severity
	}{
		{"below the band", band, 0.29, screen.Negative, 2},
		{"lower bound", band, 0.3, screen.Indeterminate, 2},
		{"upper bound", band, 0.6, screen.Positive, 2},
		{"above the band", band, 0.61, screen.Positive, 2},
		{"below one threshold", single, 0.499, screen.Negative, 2},
		{"at one threshold", single, 0.5, screen.Positive, 2},
		{"first class", classes, 0.19, screen.Indeterminate, 1},
		{"second class", classes, 0.2, screen.Indeterminate, 2},
		{"third class", classes, 0.7, screen.Indeterminate, 3},
		{"another model", screen.Thresholds{Model: "n", Low: ptr(0), High: ptr(0), Classes: []float64{0, 0}}, 0.5, screen.Indeterminate, 2},
		{"another version", screen.Thresholds{Model: "m", Version: "2", Low: ptr(0), High: ptr(0)}, 0.5, screen.Indeterminate, 2},
		{"this version", screen.Thresholds{Model: "m", Version: "1", Low: ptr(0), High: ptr(0)}, 0.5, screen.Positive, 2},
	} {
		s := screen.Score{Category: screen.Depression, Model: "m", Version: "1", Probability: c.p, Decision: screen.Indeterminate, Severity: 2}
		c.t.Apply(&s)
		if s.Decision != c.decision || s.Severity != c.severity {
			t.Errorf("%s: got %v, class %v, want %v, class %v", c.name, s.Decision, s.Severity, c.decision, c.severity)
		}
	}
	none := screen.Score{Category: screen.Depression, Probability: 0.9} // of a model without classes
	classes.Apply(&none)
	if none.Severity != 0 {
		t.Errorf("got class %d of a model that gives none", none.Severity)
	}
}

func TestAccountThresholds(t *testing.T) {
	a := screen.AccountThresholds{
		screen.AllAccounts: {screen.Deepfake: {Low: ptr(0.1), High: ptr(0.1)}},
		"clinic":           {screen.Deepfake: {Low: ptr(0.9), High: ptr(0.9)}},
	}
	for account, want := range map[string]screen.Decision{"clinic": screen.Negative, "other": screen.Positive, "": screen.Positive} {
		s := screen.Score{Category: screen.Deepfake, Probability: 0.5}
		a.Apply(account, &s)
		if s.Decision != want {
			t.Errorf("account %q: got %v, want %v", account, s.Decision, want)
		}
	}
	s := screen.Score{Category: screen.Anxiety, Probability: 0.5, Decision: screen.Indeterminate}
	a.Apply("clinic", &s)
	if s.Decision != screen.Indeterminate {
		t.Errorf("got %v by the thresholds of another category", s.Decision)
	}
	c := a.Clone()
	*c["clinic"][screen.Deepfake].Low = 0
	if *a["clinic"][screen.Deepfake].Low != 0.9 {
		t.Error("a copy shares what it was made from")
	}
}

func TestThresholdsFile(t *testing.T) {
	a := screen.AccountThresholds{"clinic": {
		screen.Anxiety: {Model: "m", Version: "1", Low: ptr(0.25), High: ptr(0.5), Classes: []float64{0.1, 0.2, 0.3}, ChosenOn: "20 recordings"},
	}}
	var b bytes.Buffer
	if err := screen.WriteThresholds(&b, a); err != nil {
		t.Fatal(err)
	}
	if got, err := screen.ReadThresholds(&b); err != nil || !reflect.DeepEqual(got, a) {
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
		"more behind the end":        head + `{}}}{}`,
		"no accounts":                `{"format":"voicescreen-thresholds/1"}`,
	} {
		if _, err := screen.ReadThresholds(strings.NewReader(text)); !errors.Is(err, screen.ErrThresholds) {
			t.Errorf("%s: got %v, want ErrThresholds", name, err)
		}
	}
	many := screen.AccountThresholds{}
	for i := range 501 {
		many[strconv.Itoa(i)] = nil
	}
	if err := screen.WriteThresholds(&b, many); !errors.Is(err, screen.ErrThresholds) {
		t.Errorf("got %v, want ErrThresholds for more accounts than can be read", err)
	}
	bad := screen.AccountThresholds{"": {screen.Depression: {Classes: []float64{math.NaN(), 1}}}}
	if err := screen.WriteThresholds(&b, bad); !errors.Is(err, screen.ErrThresholds) {
		t.Errorf("got %v, want ErrThresholds for what is no number", err)
	}
}

func FuzzReadThresholds(f *testing.F) {
	f.Add(`{"format":"voicescreen-thresholds/1","accounts":{"":{"anxiety":{"low":0.5,"high":0.6,"classes":[0,0,1]}}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var a screen.AccountThresholds
		var err error
		a, err = screen.ReadThresholds(strings.NewReader(text))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := screen.WriteThresholds(&b, a); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		for c := screen.Depression; c <= screen.Deepfake; c++ {
			s := screen.Score{Category: c, Probability: 0.5, Decision: screen.Negative}
			if classes := c.Severities(); classes != nil {
				s.Severity = classes[0]
			}
			a.Apply("", &s)
			if s.Decision == 0 || s.Severity != 0 && !slices.Contains(c.Severities(), s.Severity) || s.Severity == 0 && c != screen.Deepfake {
				t.Fatalf("got %+v", s)
			}
		}
	})
}
