package models_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// small is a valid model file of each link.
func small(kind models.LinkKind) *models.File {
	f := &models.File{
		Format: models.FileFormat, Name: "small", Version: "1", Category: screen.Depression, Schema: "voice/1",
		Description: "a test", Link: models.Link{Kind: kind}, Intercept: 0.5, Clip: 3,
		Indeterminate: models.Band{Low: 0.4, High: 0.6},
		TrainedOn:     []models.Data{{Data: "nothing", Rows: 0, Licence: "none"}},
		Metrics:       []models.Metric{{Name: "auc", Value: 0.6, Low: 0.5, High: 0.7, Interval: "95 %", Data: "d", Split: "s", N: 10}},
		Licence:       "MIT",
		Features: []models.Feature{
			{Name: "f0.sd_st", Unit: "st", Center: 3, Scale: 2, Weight: 1, WeightSD: 0.1},
			{Name: "hnr.mean_db", Unit: "dB", Center: 10, Scale: 5, Weight: -2, WeightSD: 0},
		},
	}
	if kind == models.Ordinal {
		f.Link = models.Link{Kind: kind, Thresholds: []float64{1, 2}, Cuts: []float64{0.5, 1.5}, Decision: 1}
	}
	return f
}

func encode(t testing.TB, f *models.File) string {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFileReadsWhatItWrote(t *testing.T) {
	for _, kind := range []models.LinkKind{models.Logit, models.Ordinal} {
		f := small(kind)
		f.Calibration = &models.Calibration{A: 0.7, B: -0.1}
		f.Others = []models.Predictor{{Of: "changed pitch", Intercept: -3}}
		f.Features[0].Others, f.Features[1].Others = []float64{0}, []float64{0.5}
		want := encode(t, f)
		got, err := models.Read(strings.NewReader(want))
		if err != nil {
			t.Fatal(err)
		}
		if again := encode(t, got); again != want {
			t.Errorf("%v: got\n%s\nwant\n%s", kind, again, want)
		}
	}
}

// TestLoadRefuses changes one thing of a valid file at a time; the error must
// name it.
func TestLoadRefuses(t *testing.T) {
	cases := []struct{ name, old, new, path string }{
		{"no JSON", `{`, `[`, ""},
		{"cut off", "]\n}", "", ""},
		{"something after the end of a value", `"small"`, `"small" 1`, ""},
		{"another format", `model/1`, `model/9`, "format"},
		{"the format of former files with a kernel", `model/1",`, `model/3", "kernel": {"gamma": 1, "step": 1, "vectors": "AAA=", "coefficients": [1]},`, "format"},
		{"a kernel", `"licence": "MIT"`, `"licence": "MIT", "kernel": {}`, "kernel"},
		{"no format", `"format"`, `"x"`, "format"},
		{"unknown field", `"licence": "MIT"`, `"licence": "MIT", "colour": 1`, "colour"},
		{"unknown field in a feature", `"scale":2`, `"scale":2,"colour":1`, "features[0].colour"},
		{"a field in other letters", `"clip": 3`, `"clip": 3, "Clip": 4`, "Clip"},
		{"a field twice", `"clip": 3`, `"clip": 3, "clip": 4`, "clip"},
		{"a field of a feature twice", `"scale":2`, `"scale":2,"scale":3`, "features[0].scale"},
		{"missing intercept", `"intercept": 0.5,`, ``, "intercept"},
		{"missing weight", `"weight":1,`, ``, "features[0].weight"},
		{"null weight", `"weight":1`, `"weight":null`, "features[0].weight"},
		{"null for a feature", `{"name":"f0.sd_st","unit":"st","center":3,"scale":2,"weight":1,"weight_sd":0.1}`, `null`, "features[0]"},
		{"null for a threshold", "1,\n      2", "1,\n      null", "link.thresholds[1]"},
		{"null for the link", `"link": {`, `"link": null, "x": {`, "link"},
		{"null for the category", `"depression"`, `null`, "category"},
		{"a list for an object", `"indeterminate": {`, `"indeterminate": [], "x": {`, "indeterminate"},
		{"an object for a list", `"metrics": [`, `"metrics": {}, "x": [`, "metrics"},
		{"a fraction for a count", `"n": 10`, `"n": 10.5`, "metrics[0].n"},
		{"missing list", `"metrics"`, `"x"`, "x"},
		{"missing list of features", `"features"`, `"metrics"`, "metrics"},
		{"not UTF-8", `a test`, "\xff", ""},
		{"something after the end", "]\n}", "]\n}\n{}", ""},
		{"text for a number", `"weight":1`, `"weight":"1"`, "features[0].weight"},
		{"a number too large", `"weight":1`, `"weight":1e999`, "features[0].weight"},
		{"no name", `"small"`, `""`, "name"},
		{"unknown category", `"depression"`, `"mood"`, "category"},
		{"category without classes", `"depression"`, `"deepfake"`, "link.kind"},
		{"unknown schema", `voice/1`, `voice/9`, "schema"},
		{"unknown feature", `f0.sd_st`, `f0.sd_ts`, "features[0].name"},
		{"feature in another unit", `"unit":"st"`, `"unit":"Hz"`, "features[0].unit"},
		{"feature twice", `"hnr.mean_db","unit":"dB"`, `"f0.sd_st","unit":"st"`, "features[1].name"},
		{"scale of zero", `"scale":2`, `"scale":0`, "features[0].scale"},
		{"negative spread", `"weight_sd":0.1`, `"weight_sd":-0.1`, "features[0].weight_sd"},
		{"range upside down", `"weight_sd":0.1`, `"weight_sd":0.1,"low":1`, "features[0]"},
		{"further predictor without a name", `"clip": 3`, `"clip": 3, "others": [{"of": "", "intercept": 0}]`, "others[0].of"},
		{"further predictor without an intercept", `"clip": 3`, `"clip": 3, "others": [{"of": "a"}]`, "others[0].intercept"},
		{"further predictor without weights", `"clip": 3`, `"clip": 3, "others": [{"of": "a", "intercept": 0}]`, "features[0].others"},
		{"weight without a further predictor", `"weight_sd":0.1`, `"weight_sd":0.1,"others":[1]`, "features[0].others"},
		{"share outside above 1", `"features"`, `"outside": 1.1, "features"`, "outside"},
		{"prior of 1", `"indeterminate"`, `"prior": 1, "indeterminate"`, "prior"},
		{"clip of zero", `"clip": 3`, `"clip": 0`, "clip"},
		{"band below 0", `"low": 0.4`, `"low": -0.4`, "indeterminate.low"},
		{"band above 1", `"high": 0.6`, `"high": 1.6`, "indeterminate.high"},
		{"band upside down", `"low": 0.4`, `"low": 0.9`, "indeterminate"},
		{"thresholds that descend", "1,\n      2", "2,\n      1", "link.thresholds[1]"},
		{"too few thresholds", "1,\n      2", "2", "link.thresholds"},
		{"decision out of range", `"decision": 1`, `"decision": 3`, "link.decision"},
		{"unknown link", `"ordinal"`, `"probit"`, "link.kind"},
		{"thresholds of a logit", `"ordinal"`, `"logit"`, "link"},
		{"falling calibration", `"calibration": null`, `"calibration": {"a": -1, "b": 0}`, "calibration.a"},
		{"calibration without b", `"calibration": null`, `"calibration": {"a": 1}`, "calibration.b"},
		{"calibrated on nothing", `"is_calibrated": false`, `"is_calibrated": true`, "calibrated_on"},
		{"metric without rows", `"n": 10`, `"n": 0`, "metrics[0]"},
		{"metric outside its interval", `"value": 0.6`, `"value": 0.8`, "metrics[0]"},
	}
	valid := encode(t, small(models.Ordinal))
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(valid, c.old, c.new, 1)
			if text == valid {
				t.Fatalf("the file has no %q", c.old)
			}
			_, err := models.Load(strings.NewReader(text))
			var fault *models.FileError
			if !errors.Is(err, models.ErrModel) || !errors.As(err, &fault) {
				t.Fatalf("got %v, want a FileError", err)
			}
			if fault.Path != c.path {
				t.Errorf("got path %q (%v), want %q", fault.Path, err, c.path)
			}
		})
	}
}

func TestLoadRefusesWhatIsTooLarge(t *testing.T) {
	text := encode(t, small(models.Logit)) + strings.Repeat(" ", models.MaxFileSize)
	if _, err := models.Load(strings.NewReader(text)); !errors.Is(err, models.ErrModel) {
		t.Errorf("got %v, want ErrModel", err)
	}
}

func TestLoadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.json")
	if _, err := models.LoadFile(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v, want fs.ErrNotExist", err)
	}
	if err := os.WriteFile(path, []byte(`{"format":"voicescreen-model/1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := models.LoadFile(path); !errors.Is(err, models.ErrModel) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want ErrModel and the path", err)
	}
	if err := os.WriteFile(path, []byte(encode(t, small(models.Logit))), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := models.LoadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Info(); got.Name != "small" || got.Version != "1" || got.Calibrated || len(got.Categories) != 1 {
		t.Errorf("got %+v", got)
	}
}

// FuzzLoad checks that Load refuses any bytes with ErrModel, or returns a scorer
// whose scores encode as JSON and whose file can be written.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(encode(f, small(models.Logit))))
	f.Add([]byte(encode(f, small(models.Ordinal))))
	f.Add([]byte(`{"format":"voicescreen-model/1","features":[null]}`))
	f.Add([]byte(`{"format":"voicescreen-model/1","link":[],"calibration":{}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := models.Load(bytes.NewReader(b))
		if err != nil {
			if !errors.Is(err, models.ErrModel) {
				t.Fatalf("got %v, want ErrModel", err)
			}
			return
		}
		l, ok := s.(*models.Linear)
		if !ok {
			return // FuzzLoadBayes has those
		}
		encode(t, l.File())
		if l.File().Schema != "voice/1" {
			return
		}
		for _, x := range []float64{0, 1e308, -1e308} {
			score := l.ScoreVector(constant(x))
			if _, err := json.Marshal(score); err != nil {
				t.Fatal(err)
			}
			if !(0 <= score.Low && score.Low <= score.Probability && score.Probability <= score.High && score.High <= 1) {
				t.Fatalf("got %v in [%v, %v]", score.Probability, score.Low, score.High)
			}
		}
	})
}

// constant is a vector of voice/1 with one value.
func constant(x float64) features.Vector {
	s := features.VoiceSchema()
	v := features.Vector{Schema: s, Values: make([]float64, s.Len())}
	for i := range v.Values {
		v.Values[i] = x
	}
	return v
}
