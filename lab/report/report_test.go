package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/report"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// drawn returns n rows of three sources and two systems whose scores lean on
// the class.
func drawn(n int) []report.Row {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]report.Row, n)
	for i := range rows {
		r := &rows[i]
		r.Positive = i%2 == 0
		p := 0.3 + 0.4*rng.Float64()
		if r.Positive {
			p += 0.15
			r.System, r.Kind = fmt.Sprintf("system %d", i%4), "tts"
		}
		r.Score = screen.Score{Probability: p, Decision: screen.Indeterminate}
		switch {
		case p < 0.45:
			r.Score.Decision = screen.Negative
		case p > 0.6:
			r.Score.Decision = screen.Positive
		}
		r.Source, r.SNR = fmt.Sprintf("source %d", i%3), float64(i%30)
		r.Cluster = r.Source + r.System
		r.Groups = map[string]string{"sex": "Female"}
		if i < 7 {
			r.Groups["sex"] = "Male"
		}
		if i%10 == 0 {
			r.Refused = "audio_length_error"
		}
	}
	return rows
}

var model = models.Info{Name: "m", Version: "1"}

// The figures of a handful of recordings, counted by hand.
func TestFiguresByHand(t *testing.T) {
	row := func(positive bool, p float64, d screen.Decision) report.Row {
		return report.Row{Positive: positive, Score: screen.Score{Probability: p, Decision: d}, SNR: math.NaN()}
	}
	r := report.New(screen.Deepfake, model, []report.Row{
		row(true, 0.9, screen.Positive), row(true, 0.55, screen.Indeterminate), row(true, 0.3, screen.Negative),
		row(false, 0.6, screen.Positive), row(false, 0.2, screen.Negative), row(false, 0.1, screen.Negative),
	}, report.Options{})
	for name, want := range map[string]float64{
		"auc":   7.0 / 9, // pairs in the right order: 3 + 2 + 2
		"eer":   1.0 / 3,
		"brier": (0.01 + 0.2025 + 0.49 + 0.36 + 0.04 + 0.01) / 6,
	} {
		if f, ok := r.Figure(name); !ok || math.Abs(float64(f.Value)-want) > 1e-12 {
			t.Errorf("%s: got %v, want %v", name, f.Value, want)
		} else if f.Clusters != nil {
			t.Errorf("%s: got an interval by cluster, and no cluster is known", name)
		}
	}
	if s := r.Single; s.Sensitivity.K != 2 || s.Sensitivity.N != 3 || s.Specificity.K != 2 || s.Specificity.N != 3 || s.Undecided.K != 0 {
		t.Errorf("single threshold: got %+v", s)
	}
	if s := r.Band; s.Sensitivity.K != 1 || s.Sensitivity.N != 2 || s.Specificity.K != 2 || s.Specificity.N != 3 || s.Undecided.K != 1 {
		t.Errorf("band: got %+v", s)
	}
}

// Of models with classes the class decides, unless a threshold is asked for.
func TestClasses(t *testing.T) {
	rows := []report.Row{
		{Positive: true, Class: 3, Score: screen.Score{Probability: 0.2, Severity: 2}},
		{Positive: false, Class: 1, Score: screen.Score{Probability: 0.1, Severity: 1}},
		{Positive: false, Class: 1, Score: screen.Score{Probability: 0.3, Severity: 1}},
	}
	r := report.New(screen.Depression, model, rows, report.Options{})
	if r.Single.Sensitivity.K != 1 || r.Single.Specificity.K != 2 || !math.IsNaN(float64(r.Threshold)) {
		t.Errorf("by class: got %+v at %v", r.Single, r.Threshold)
	}
	if o := r.Ordinal; o == nil || o.N != 3 || o.Confusion[2][1] != 1 || o.Confusion[0][0] != 2 || math.Abs(float64(o.MAE)-1.0/3) > 1e-12 {
		t.Errorf("got classes %+v", o)
	}
	r = report.New(screen.Depression, model, rows, report.Options{Threshold: 0.25})
	if r.Single.Sensitivity.K != 0 || r.Single.Specificity.K != 1 {
		t.Errorf("at 0.25: got %+v", r.Single)
	}
}

func TestGateAndGroups(t *testing.T) {
	rows := drawn(120)
	all, gated := report.New(screen.Deepfake, model, rows, report.Options{}), report.New(screen.Deepfake, model, rows, report.Options{Gated: true})
	if all.Rows != 120 || gated.Rows != 108 || gated.Refused["audio_length_error"] != 12 {
		t.Errorf("got %d rows, %d behind the gate, refused %v", all.Rows, gated.Rows, gated.Refused)
	}
	for _, g := range all.Groups {
		small := g.Name == "Male"
		if g.Suppressed != small {
			t.Errorf("group %s %s of %d: suppressed %v, want %v", g.By, g.Name, g.N, g.Suppressed, small)
		}
		if small && (g.N != 0 || !math.IsNaN(float64(g.AUC)) || g.Sensitivity.N != 0 || g.Specificity.N != 0) {
			t.Errorf("a group of 7 tells of them: %+v", g)
		}
	}
	if n := len(all.Groups); n != 2+3 {
		t.Errorf("got %d groups, want two sexes and three thirds", n)
	}
	f, _ := all.Figure("auc")
	if !(f.Clusters.High-f.Clusters.Low > 0) || !(float64(f.Recordings.Low) < float64(f.Value)) {
		t.Errorf("got %+v, want intervals", f)
	}
}

// A clinic with few people has no figure of its own where it would tell of
// their health, and a source of a few clips has one.
func TestFewRecordingsOfASource(t *testing.T) {
	rows := drawn(120)
	for i := range rows {
		switch i {
		case 0, 2, 4:
			rows[i].System, rows[i].Kind = "few", "few"
		case 1, 3, 5:
			rows[i].Source = "few"
		}
	}
	for task, want := range map[screen.Category]bool{screen.Depression: false, screen.Anxiety: false, screen.Deepfake: true} {
		r := report.New(task, model, rows, report.Options{Resamples: 20})
		var text bytes.Buffer
		if err := r.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text.String(), "few"); got != want {
			t.Errorf("%v: got\n%s\nfigures of three recordings: %v, want %v", task, text.String(), got, want)
		}
		if len(r.FalseAlarms) < 3 || len(r.Kinds) < 1 || len(r.Systems) < 2 {
			t.Errorf("%v: got %+v, %+v and %+v, want the larger ones", task, r.FalseAlarms, r.Kinds, r.Systems)
		}
	}
}

// Rows of unknown source are not of one source.
func TestUnknownSources(t *testing.T) {
	some, none := drawn(120), drawn(120)
	var known []report.Row
	for i := range some {
		none[i].Source = ""
		if i%3 == 0 {
			some[i].Source = ""
		} else {
			known = append(known, some[i])
		}
	}
	within := func(rows []report.Row) (stats.Number, bool) {
		f, ok := report.New(screen.Deepfake, model, rows, report.Options{Resamples: 20}).Figure("within_source_auc")
		return f.Value, ok
	}
	got, _ := within(some)
	if want, ok := within(known); !ok || got != want {
		t.Errorf("got %v, want %v, which the rows of known source have", got, want)
	}
	if got, ok := within(none); ok {
		t.Errorf("without sources: got %v, want no figure", got)
	}
}

// Recordings of one class have a share that is right, and no AUC.
func TestOneClass(t *testing.T) {
	rows := drawn(60)
	for i := range rows {
		rows[i].Positive, rows[i].System, rows[i].Kind = false, "", ""
	}
	var text bytes.Buffer
	if err := report.New(screen.Deepfake, model, rows, report.Options{Resamples: 20}).WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"undefined: all rows are of one class", "Brier", "at 0.5000", "source 1", "with the band"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("got\n%s\nwant %q", text.String(), want)
		}
	}
	if strings.Contains(text.String(), "NaN") {
		t.Errorf("got\n%s", text.String())
	}
}

// The AUC of a group has the interval over people: five recordings of each tell
// no more than one.
func TestGroupIntervalIsByPerson(t *testing.T) {
	var one, five []report.Row
	for i, r := range drawn(40) {
		r.Groups, r.SNR, r.Cluster = map[string]string{"sex": "Female"}, math.NaN(), fmt.Sprint("person ", i)
		one = append(one, r)
		for range 5 {
			five = append(five, r)
		}
	}
	width := func(rows []report.Row) float64 {
		g := report.New(screen.Depression, model, rows, report.Options{Resamples: 50}).Groups[0]
		return float64(g.Interval.High - g.Interval.Low)
	}
	if a, b := width(one), width(five); math.Abs(a-b) > 0.05*a {
		t.Errorf("got intervals of %.3f from one and %.3f from five recordings of each person, want the same", a, b)
	}
}

// Every form of a report is there for every kind of input, and holds no
// number that JSON or a reader does not know.
func TestForms(t *testing.T) {
	nan := drawn(30)
	nan[3].Score.Probability = math.NaN()
	one := drawn(4)
	for i := range one {
		one[i].Positive = true
	}
	for name, rows := range map[string][]report.Row{"usual": drawn(120), "one class": one, "none": nil, "a score that is no number": nan, "two": drawn(2)} {
		r := report.New(screen.Deepfake, model, rows, report.Options{Resamples: 20})
		var text, page bytes.Buffer
		if err := r.WriteText(&text); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := r.WriteHTML(&page); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, s := range []string{text.String(), page.String()} {
			if strings.Contains(s, "Inf") || strings.Contains(s, "NaN") || strings.Contains(s, "%!") {
				t.Errorf("%s: got\n%s", name, s)
			}
		}
		selfContained(t, page.String())
	}
}

// selfContained fails if the page asks for anything outside itself, or holds a
// drawing that is no well-formed XML.
func selfContained(t *testing.T, page string) {
	t.Helper()
	for _, bad := range []string{"<script", "src=", "<link", "@import", "url("} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, part := range strings.Split(page, "<svg")[1:] {
		drawing := "<svg" + part[:strings.Index(part, "</svg>")+len("</svg>")]
		for d := xml.NewDecoder(strings.NewReader(drawing)); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("drawing: %v", err)
			}
		}
	}
}

// A name from a manifest is text, not markup.
func TestNamesAreEscaped(t *testing.T) {
	rows := drawn(120)
	for i := range rows {
		rows[i].Groups = map[string]string{"race": "<script>alert(1)</script>"}
		rows[i].Source = "<b>"
	}
	var page bytes.Buffer
	if err := report.New(screen.Deepfake, model, rows, report.Options{Resamples: 20}).WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	selfContained(t, page.String())
	if strings.Contains(page.String(), "<b>") {
		t.Error("a source's name is markup")
	}
}
