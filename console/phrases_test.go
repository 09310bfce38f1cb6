package console_test

import (
	"encoding/json"
	"math"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/console"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/spoof"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/report"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// said calls see once with every text of package report that a page of the console shows.
func said(see func(text string)) {
	nan := math.NaN()
	seen := map[string]bool{"": true}
	f := func(text string) {
		if !seen[text] {
			seen[text] = true
			see(text)
		}
	}
	bands := []screen.Band{{}, screen.Open, {Low: 0.3, High: 0.45}, {Low: 0.5, High: 0.5}}
	for _, c := range screen.Categories() {
		severities := append([]screen.Severity{0}, c.Severities()...)
		for i := range 3 * 4 * 5 * 3 * 2 * 4 {
			s := screen.Score{Category: c, Model: "voice", Version: "1.2.0+45", Probability: []float64{0.004, 0.42, 0.995}[i%3], Band: bands[i/3%4],
				Prior: []float64{0, 0.08, 0.416, 0.42, 0.424}[i/12%5], Decision: screen.Decision(1 + i/60%3), Calibrated: i/180%2 == 0, Low: nan, High: nan,
				Severity: severities[i%len(severities)], Coverage: []float64{1, 0.5}[i%2]}
			switch i / 360 % 4 {
			case 0:
				s.Low, s.High = 0.1, 0.6
			case 1:
				s.Cautions = []screen.Caution{screen.Unfamiliar}
			case 2:
				s.Segments = []screen.Segment{{Start: 0, End: 4, Probability: 0.1}, {Start: 4, End: 8, Probability: 0.9}}
			case 3:
				s.Segments = []screen.Segment{{Start: 0, End: 4, Probability: nan}, {Start: 4, End: 8, Probability: 0.9}, {Start: 8, End: 12, Probability: nan}}[:2+i%2]
			}
			sec := report.NewSection(c, &s, "")
			texts := []string{sec.Heading, sec.Sentence, sec.ScaleText, sec.SegmentsText, sec.Means, sec.MeansNot}
			for _, fact := range sec.Facts {
				texts = append(texts, fact.Name, fact.Value)
			}
			for _, text := range texts {
				f(text)
			}
		}
		for _, failure := range []screen.Failure{{Code: screen.CodeAudioLength, Data: map[string]float64{"minimum_length": 30}},
			{Code: screen.CodeNoSpeech, Message: "Audio file contains no speech"}, {Code: screen.CodeInternal, Message: "The analysis failed; please submit the recording in a new session"}} {
			f(report.Reason(c, &failure, 12.5))
		}
	}
	for _, schema := range []*features.Schema{features.VoiceSchema(), spoof.Schema()} {
		for i := range schema.Len() {
			name, _ := schema.Feature(i)
			measure(f, name)
		}
	}
	f(report.InWords(screen.Contribution{Feature: "time.11.7-22.3_s"}))
	for caution := screen.Caution(1); caution.Valid(); caution++ {
		f(report.Caution(caution))
	}
	for i := range 2 * 4 * 4 * 3 {
		q := report.Quality{Duration: 80, SpeechSeconds: []float64{40, 70}[i%2], SampleRate: 44100, Level: []float64{-20, nan, -3, 0}[i/2%4],
			SNR: []float64{nan, 10, 25, 40}[i/2%4], Clipped: []float64{nan, 0, 0.001, 0.2}[i/8%4], Bandwidth: []float64{nan, 4000, 20000}[i/32%3], Partial: i%2 == 0}
		for _, fact := range q.Facts() {
			f(fact.Name)
			f(fact.Value)
			f(fact.Meaning)
		}
	}
}

// measure calls see with the words of a measure that has words, alone and as a part of a
// score.
func measure(see func(text string), feature string) {
	for i, dev := range []screen.SD{-3, -1, -0.1, 0.1, 1, 3} {
		c := screen.Contribution{Feature: feature, Deviation: dev, Logits: float64(1 - 2*(i%2))}
		if text := report.InWords(c); text != feature {
			see(text)
			see(report.Measures([]screen.Contribution{c}, 1)[0])
		}
	}
}

func TestReportsAreTranslated(t *testing.T) {
	texts := map[string]string{}
	n := 0
	said(func(text string) {
		translated, ok := console.Phrase("de", text)
		if texts[text] = translated; !ok {
			t.Errorf("no German for %q", text)
		}
		n++
	})
	if n < 100 {
		t.Errorf("got %d texts, want at least 100", n)
	}
	for text, want := range map[string]string{
		"between 10 and 60 of 100 (90 % interval)":          "zwischen 10 und 60 von 100 (90-%-Intervall)",
		"pauses vary less than usual, by far":               "die Pausen schwanken weniger als üblich, und zwar deutlich",
		"voice 1.2.0+45, calibrated on labelled recordings": "voice 1.2.0+45, kalibriert an Aufnahmen mit Angaben",
	} {
		if texts[text] != want {
			t.Errorf("%q: got %q, want %q", text, texts[text], want)
		}
	}
	if got, ok := console.Phrase("de", "nobody has said this. Nor this."); ok {
		t.Errorf("an unknown text: got %q, want none", got)
	}
}

// TestTranslationsKeepTheNumbers also finds translations of what nothing says any more. It
// is left to the ordinary run of the tests: it matches texts, in one goroutine.
func TestTranslationsKeepTheNumbers(t *testing.T) {
	if cost.Race {
		return
	}
	raw, err := os.ReadFile("phrases/de.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]string
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{"the model gave none": true} // of result.go
	said(func(text string) { console.Phrases("de", text, used) })
	for english, german := range all {
		if !used[english] {
			t.Errorf("nothing says %q any more", english)
		}
		if strings.Count(english, "#") != strings.Count(german, "#") || german == "" {
			t.Errorf("%q has another number of numbers than %q", german, english)
		}
	}
}

func TestGermanResult(t *testing.T) {
	s := newService(t, nil)
	s.stored(account, "a", "patient-17", s.clock.Now(), func(x *store.Session) {
		for i := range x.Scores {
			x.Scores[i].Contributions = []screen.Contribution{{Feature: "pause.sd_s", Value: 0.3, Unit: "s", Logits: -0.1, Deviation: -0.2}}
		}
	})
	c := s.signedIn("")
	c.post("/console/language", "language", "de")
	a := c.get("/console/sessions/a")
	a.want(t, "a result in German", http.StatusOK, `<html lang="de">`, "25 von 100 Menschen, die so klingen", "keine Anzeichen", "zwischen 10 und 50 von 100", "keine Diagnose",
		"Qualität der Aufnahme", "die Pausen schwanken weniger als üblich, wenn auch wenig (senkt den Wert)")
	if english := strings.Count(a.body, `<span lang="en">`); english != 0 {
		t.Errorf("got %d texts in English, want none", english)
	}
	if a := s.signedIn("").get("/console/sessions/a"); strings.Contains(a.body, `<span lang="en">`) {
		t.Error("an English page marks English texts")
	}
}
