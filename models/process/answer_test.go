package process

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

var both = models.Info{Name: "m", Version: "1", Categories: []screen.Category{screen.Depression, screen.Anxiety}, Calibrated: true, CalibratedOn: "a study"}

// TestParseAnswer reads every member.
func TestParseAnswer(t *testing.T) {
	got, _, err := parseAnswer([]byte(`{"id":7,"scores":[
		{"category":"depression","probability":0.75,"low":0.5,"high":0.875,"coverage":0.5,"prior":0.125,"band":{"low":0.25,"high":0.5},
		 "severity":"mild_to_moderate","cautions":["noisy"],"segments":[{"start_seconds":0,"end_seconds":10,"probability":null}],
		 "contributions":[{"feature":"small","value":null,"logits":0.5},{"feature":"large","value":1,"unit":"Hz","logits":-2,"deviation":1}]},
		{"category":"anxiety","probability":0}]}`), 7, both)
	if err != nil {
		t.Fatal(err)
	}
	s := got[0]
	if s.Probability != 0.75 || s.Low != 0.5 || s.High != 0.875 || s.Coverage != 0.5 || s.Prior != 0.125 || s.Band != (screen.Band{Low: 0.25, High: 0.5}) || !s.Calibrated {
		t.Errorf("got %+v", s)
	}
	if s.Severity != screen.MildToModerate || s.Cautions[0] != screen.Noisy || !math.IsNaN(s.Segments[0].Probability) || s.Contributions[0].Feature != "large" || !math.IsNaN(s.Contributions[1].Value) {
		t.Errorf("got %+v", s)
	}
	if a := got[1]; a.Category != screen.Anxiety || a.Probability != 0 || a.Coverage != 1 || !math.IsNaN(a.High) || a.Severity != 0 {
		t.Errorf("got %+v, want a score with defaults", a)
	}
}

// TestInvalidAnswers names the fault of each.
func TestInvalidAnswers(t *testing.T) {
	one := models.Info{Name: "m", Version: "1", Categories: []screen.Category{screen.Depression}}
	for member, want := range map[string]string{
		`"probability":null`:                                                  "no probability",
		`"probability":1e999`:                                                 `wrong type or size at "scores.probability"`,
		`"probability":"0.5"`:                                                 `wrong type or size at "scores.probability"`,
		`"probability":0.5,"low":-0.1`:                                        "out of range",
		`"probability":0.5,"low":0.6,"high":0.4`:                              "low above its high",
		`"probability":0.5,"coverage":1.5`:                                    "out of range",
		`"probability":0.5,"prior":1`:                                         "prior",
		`"probability":0.5,"band":{"low":0.6,"high":0.4}`:                     "band",
		`"probability":0.5,"severity":"dire"`:                                 "severity",
		`"probability":0.5,"severity":"severe"`:                               "severity", // of anxiety
		`"probability":0.5,"cautions":["beware"]`:                             "caution",
		`"probability":0.5,"covrage":1`:                                       "unknown member",
		`"probability":0.5,"segments":[{}]`:                                   "segment",
		`"probability":0.5,"segments":[{"start_seconds":-1,"end_seconds":1}]`: "segment",
		`"probability":0.5,"segments":[{"start_seconds":0,"end_seconds":1,"probability":2}]`:    "segment",
		`"probability":0.5,"contributions":[{"logits":1}]`:                                      "contribution",
		`"probability":0.5,"contributions":[` + strings.Repeat(`{"feature":"a"},`, 100) + `{}]`: "101 contributions",
	} {
		_, _, err := parseAnswer([]byte(`{"id":1,"scores":[{"category":"depression",`+member+`}]}`), 1, one)
		if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, ErrAnswer) && !errors.Is(err, ErrProtocol) {
			t.Errorf("%.60s: got %v, want %q", member, err, want)
		}
	}
	for text, want := range map[string]string{
		`{"id":1}{}`:                      "something after",
		`{"scores":[]}`:                   "no id",
		`{"id":1,"scores":[],"error":""}`: "both",
		`[]`:                              "wrong type",
		`{"id":1`:                         "not JSON",
		`null`:                            "no id",
	} {
		if _, _, err := parseAnswer([]byte(text), 1, one); !errors.Is(err, ErrProtocol) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// TestInvalidDescriptions names the fault of each.
func TestInvalidDescriptions(t *testing.T) {
	for text, want := range map[string]string{
		`{"protocol":"voicescreen-scorer/2","name":"a","version":"1","categories":["deepfake"]}`:                               "protocol",
		`{"protocol":"voicescreen-scorer/1","version":"1","categories":["deepfake"]}`:                                          "name",
		`{"protocol":"voicescreen-scorer/1","name":"a","categories":["deepfake"]}`:                                             "version",
		`{"protocol":"voicescreen-scorer/1","name":"a","version":"1","categories":[]}`:                                         "no category",
		`{"protocol":"voicescreen-scorer/1","name":"a","version":"1","categories":["joy"]}`:                                    "unknown",
		`{"protocol":"voicescreen-scorer/1","name":"a","version":"1","categories":[null]}`:                                     "category(0)",
		`{"protocol":"voicescreen-scorer/1","name":"a","version":"1","categories":["anxiety","anxiety"]}`:                      "twice",
		`{"protocol":"voicescreen-scorer/1","name":"a","version":"1","categories":["anxiety"],"calibrated":true}`:              "calibrated_on",
		`{"protocol":"voicescreen-scorer/1","name":"a","version":"1","categories":["anxiety"],"sha256":"12"}`:                  "sha256",
		`{"protocol":"voicescreen-scorer/1","name":"a","version":"1","categories":["anxiety"],"licensee":"MIT"}`:               "unknown member",
		`{"protocol":"voicescreen-scorer/1","name":"` + strings.Repeat("a", 101) + `","version":"1","categories":["anxiety"]}`: "101 bytes",
	} {
		if _, err := parseHello([]byte(text)); !errors.Is(err, ErrProtocol) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// FuzzAnswer: what a program sends never panics, and scores that are accepted are in
// range.
func FuzzAnswer(f *testing.F) {
	for _, text := range []string{
		helperHello,
		`{"id":1,"scores":[{"category":"depression","probability":0.5},{"category":"anxiety","probability":1,"band":{"low":0.1,"high":0.2}}]}`,
		`{"id":1,"scores":[{"category":"depression","probability":0.5,"segments":[{"start_seconds":0,"end_seconds":1}],"cautions":["noisy"]},{"category":"anxiety","probability":0.1,"severity":"severe"}]}`,
		`{"id":1,"error":"too short"}`,
	} {
		var b bytes.Buffer
		writeFrame(&b, []byte(text))
		f.Add(b.Bytes())
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := bytes.NewReader(stream)
		for {
			data, err := readFrame(r)
			if err != nil {
				if err != io.EOF && err != io.ErrUnexpectedEOF && !errors.Is(err, ErrProtocol) {
					t.Fatalf("got %v of a frame", err)
				}
				return
			}
			if info, err := parseHello(data); err == nil && (info.Name == "" || len(info.Categories) == 0) {
				t.Errorf("accepted %+v", info)
			}
			scores, _, err := parseAnswer(data, 1, both)
			if err != nil {
				continue
			}
			for i, s := range scores {
				if s.Category != both.Categories[i] || !(s.Probability >= 0 && s.Probability <= 1) || s.Low > s.High || !(s.Coverage >= 0 && s.Coverage <= 1) {
					t.Errorf("accepted %+v", s)
				}
			}
		}
	})
}
