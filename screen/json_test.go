package screen_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
)

// TestJSONRoundTrips writes each noun as JSON and reads it again.
func TestJSONRoundTrips(t *testing.T) {
	no := false
	for _, c := range []struct {
		name  string
		value any // a pointer
		json  string
	}{
		{"score", &screen.Score{
			Category: screen.Anxiety, Model: "m", Version: "1", Calibrated: true, Prior: 0.1, Probability: 0.25, Low: 0.125, High: 0.5,
			Decision: screen.Negative, Severity: screen.Moderate, Coverage: 0.75, Baseline: 2,
			Contributions: []screen.Contribution{{Feature: "f0.sd_st", Value: 2.5, Unit: "st", Logits: -0.5}},
			Segments:      []screen.Segment{{Start: 0, End: 4, Probability: 0.5}},
			Cautions:      []screen.Caution{screen.Noisy, screen.SeveralVoices},
		}, `{"category":"anxiety","model":"m","version":"1","calibrated":true,"probability":0.25,"low":0.125,"high":0.5,` +
			`"decision":"negative","severity":"moderate","coverage":0.75,"baseline":2,` +
			`"contributions":[{"feature":"f0.sd_st","value":2.5,"unit":"st","logits":-0.5}],` +
			`"prior":0.1,"segments":[{"start_seconds":0,"end_seconds":4,"probability":0.5}],"cautions":["noisy","several_voices"]}`},
		{"score without optional parts", &screen.Score{Category: screen.Deepfake, Decision: screen.Indeterminate}, `{"category":"deepfake",` +
			`"model":"","version":"","calibrated":false,"probability":0,"low":0,"high":0,"decision":"indeterminate","severity":null,"coverage":0,"contributions":[]}`},
		{"contribution without a unit", &screen.Contribution{Feature: "f"}, `{"feature":"f","value":0,"unit":"","logits":0}`},
		{"segment", &screen.Segment{Start: 4, End: 7.5, Probability: 0.125}, `{"start_seconds":4,"end_seconds":7.5,"probability":0.125}`},
		{"metadata", &screen.Metadata{
			Age: 40, Gender: screen.TransgenderMale, Race: screen.Black, Ethnicity: screen.NotHispanic, Zipcode: "01234", English: &no, Weight: 150,
		}, `{"age":40,"gender":"Transgender Male","race":"Black or African American",` +
			`"ethnicity":"Not Hispanic, Latino, or Spanish Origin","zipcode":"01234","language":false,"weight":150}`},
		{"empty metadata", &screen.Metadata{}, `{}`},
		{"labels", &screen.Labels{
			PHQ2: []int{1, 2}, PHQ9: []int{0, 1, 2, 3, 0, 1, 2, 3, 0}, GAD7: []int{0, 0, 0, 0, 0, 0, 0},
			Depression: screen.InterviewUndecided, UpdatedAt: time.Date(2026, 11, 22, 10, 0, 0, 5000, time.UTC),
		}, `{"phq_2":[1,2],"phq_9":[0,1,2,3,0,1,2,3,0],"gad_7":[0,0,0,0,0,0,0],` +
			`"depression_binary":"additional_consideration_required","updated_at":"2026-11-22T10:00:00.000005Z"}`},
		{"empty labels", &screen.Labels{}, `{}`},
		{"failure", &screen.Failure{Code: screen.CodeAudioLength, Message: "too short", Data: map[string]float64{"speech_s": 1.5}},
			`{"error":"audio_length_error","message":"too short","additional_data":{"speech_s":1.5}}`},
		{"failure without data", &screen.Failure{Code: screen.CodeInternal}, `{"error":"internal_error","message":""}`},
		{"thresholds", &screen.Thresholds{Model: "m", Version: "1", Low: ptr(0.25), High: ptr(0.5), Classes: []float64{0.125}, ChosenOn: "d"},
			`{"model":"m","version":"1","low":0.25,"high":0.5,"classes":[0.125],"chosen_on":"d"}`},
		{"empty thresholds", &screen.Thresholds{}, `{}`},
		{"thresholds of accounts", &screen.AccountThresholds{screen.AllAccounts: {screen.Deepfake: {Low: ptr(0), High: ptr(0)}}},
			`{"*":{"deepfake":{"low":0,"high":0}}}`},
	} {
		text, err := json.Marshal(c.value)
		if err != nil || string(text) != c.json {
			t.Errorf("%s: got %s and error %v, want %s", c.name, text, err, c.json)
		}
		got := reflect.New(reflect.TypeOf(c.value).Elem())
		if err := json.Unmarshal([]byte(c.json), got.Interface()); err != nil {
			t.Errorf("%s: got error %v", c.name, err)
		}
		if !reflect.DeepEqual(got.Interface(), c.value) {
			t.Errorf("%s: got %+v, want %+v", c.name, got.Elem(), c.value)
		}
	}
}

// TestUndefinedNumbersAreNull writes NaN where it means "undefined", and reads
// null and a missing member as NaN.
func TestUndefinedNumbersAreNull(t *testing.T) {
	score := screen.Score{Category: screen.Deepfake, Decision: screen.Negative, Low: math.NaN(), High: math.NaN(), Segments: []screen.Segment{{Probability: math.NaN()}}}
	text, err := json.Marshal(score)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"low":null`, `"high":null`, `"segments":[{"start_seconds":0,"end_seconds":0,"probability":null}]`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("got %s, want %s in it", text, want)
		}
	}
	for _, text := range []string{string(text), `{"segments":[{}]}`} {
		got := screen.Score{Low: 1, High: 1}
		if err := json.Unmarshal([]byte(text), &got); err != nil || !math.IsNaN(got.Low) || !math.IsNaN(got.High) ||
			len(got.Segments) != 1 || !math.IsNaN(got.Segments[0].Probability) {
			t.Errorf("%s: got %+v and error %v, want NaN", text, got, err)
		}
	}
}

// TestInvalidValuesHaveNoJSON says that a value which JSON cannot hold is an
// error, and not another value.
func TestInvalidValuesHaveNoJSON(t *testing.T) {
	valid := screen.Score{Category: screen.Deepfake, Decision: screen.Negative}
	noCategory, noDecision, nan, infinite := valid, valid, valid, valid
	noCategory.Category, noDecision.Decision, nan.Probability, infinite.High = 0, 9, math.NaN(), math.Inf(1)
	for name, v := range map[string]any{
		"a score without a category":      noCategory,
		"a score of an invalid decision":  noDecision,
		"a probability that is NaN":       nan,
		"an infinite bound":               infinite,
		"an infinite segment":             screen.Segment{Probability: math.Inf(1)},
		"an invalid gender":               screen.Metadata{Gender: 99},
		"an invalid interview result":     screen.Labels{Depression: 99},
		"thresholds of invalid category":  screen.AccountThresholds{"": {99: {}}},
		"a failure with undefined values": screen.Failure{Data: map[string]float64{"x": math.NaN()}},
	} {
		if text, err := json.Marshal(v); err == nil {
			t.Errorf("%s: got %s, want an error", name, text)
		}
	}
	for text, v := range map[string]any{
		`{"category":"joy"}`:                     new(screen.Score),
		`{"low":"1"}`:                            new(screen.Score),
		`{"probability":"1"}`:                    new(screen.Segment),
		`{"gender":"female voice"}`:              new(screen.Metadata),
		`{"depression_binary":true}`:             new(screen.Labels),
		`{"clinic":{"joy":{"low":0,"high":0}}}`:  new(screen.AccountThresholds),
		`{"additional_data":{"speech_s":"1.5"}}`: new(screen.Failure),
	} {
		if err := json.Unmarshal([]byte(text), v); err == nil {
			t.Errorf("%s: got %+v, want an error", text, v)
		}
	}
}
