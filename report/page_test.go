package report_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/report"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store/memory"
)

// result is an analysis and what was analysed.
type result struct {
	a *voicescreen.Analysis
	c *features.Channel
}

func analyse(t *testing.T, path string) result {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	c, err := features.ReadChannel(ctx, bytes.NewReader(data), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	st := memory.New(nil)
	defer st.Close()
	e, err := voicescreen.New(st, &voicescreen.Options{Workers: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(ctx)
	a, err := e.AnalyzeChannel(ctx, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return result{a, c}
}

var analysed struct {
	sync.Once
	result
}

// interview analyses one recording for all tests, which must not change it.
func interview(t *testing.T) result {
	analysed.Do(func() { analysed.result = analyse(t, "../testdata/interview_en.wav") })
	return analysed.result
}

func write(t *testing.T, p *report.Page) string {
	t.Helper()
	var b strings.Builder
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// elements reads a page as XML and calls f with each element and the text in it, that
// of inner elements included.
func elements(t *testing.T, page string, f func(e xml.StartElement, text string)) {
	t.Helper()
	type open struct {
		xml.StartElement
		text strings.Builder
	}
	var stack []*open
	d := xml.NewDecoder(strings.NewReader(page))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("the page is no XML: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			stack = append(stack, &open{StartElement: token.Copy()})
		case xml.CharData:
			for _, o := range stack {
				o.text.Write(token)
			}
		case xml.EndElement:
			o := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			f(o.StartElement, o.text.String())
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// TestPageSaysWhatTheScoresSay checks that the page has each score in the words of
// analyze, and the disclaimer.
func TestPageSaysWhatTheScoresSay(t *testing.T) {
	r := interview(t)
	page := write(t, &report.Page{Title: "visit", Made: time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC), Analysis: r.a})
	if len(r.a.Scores) != 3 {
		t.Fatalf("got %d scores, want three", len(r.a.Scores))
	}
	want := []string{screen.Disclaimer, "2026-11-22 09:30", "<title>visit"}
	for i := range r.a.Scores {
		s := &r.a.Scores[i]
		want = append(want, report.Sentence(s), report.Decision(s), report.Uncertainty(s))
		want = append(want, report.Measures(s.Contributions, 5)...)
		for _, c := range s.Cautions {
			want = append(want, report.Caution(c))
		}
	}
	for _, w := range want {
		if !strings.Contains(page, w) {
			t.Errorf("want %q in the page", w)
		}
	}
}

// TestPageStandsAlone checks that the page loads nothing, runs nothing, and is valid
// XML with unique names.
func TestPageStandsAlone(t *testing.T) {
	r := interview(t)
	page := write(t, &report.Page{Analysis: r.a, Signal: report.NewSignal(r.c)})
	names := map[string]bool{}
	elements(t, page, func(e xml.StartElement, _ string) {
		switch e.Name.Local {
		case "script", "link", "iframe", "object", "embed", "a", "form":
			t.Errorf("got an element <%s>", e.Name.Local)
		}
		for _, a := range e.Attr {
			switch name := a.Name.Local; {
			case strings.HasPrefix(name, "on"), name == "style":
				t.Errorf("<%s>: got the attribute %s", e.Name.Local, name)
			case (name == "href" || name == "src") && !strings.HasPrefix(a.Value, "data:image/png;base64,"):
				t.Errorf("<%s>: got %s=%.40q, want only pictures of the page itself", e.Name.Local, name, a.Value)
			case name == "id" && names[a.Value]:
				t.Errorf("got two elements %q", a.Value)
			case name == "id":
				names[a.Value] = true
			}
		}
	})
	if strings.Contains(page, "url(http") || strings.Contains(page, "@import") {
		t.Error("the style loads something")
	}
	if size := len(page); size > 400<<10 {
		t.Errorf("got %d bytes, want at most 400 KiB", size)
	}
}

// TestEveryPictureHasItsText checks the title and the description of each picture.
func TestEveryPictureHasItsText(t *testing.T) {
	r := interview(t)
	page := write(t, &report.Page{Analysis: r.a, Signal: report.NewSignal(r.c)})
	text, pictures := map[string]string{}, 0
	elements(t, page, func(e xml.StartElement, inner string) {
		if e.Name.Local == "title" || e.Name.Local == "desc" {
			text[attribute(e, "id")] = inner
		}
		if e.Name.Local != "svg" {
			return
		}
		pictures++
		labels := strings.Fields(attribute(e, "aria-labelledby"))
		if attribute(e, "role") != "img" || len(labels) != 2 {
			t.Fatalf("picture %d: got role %q and labels %v", pictures, attribute(e, "role"), labels)
		}
		for _, l := range labels {
			if len(text[l]) < 10 {
				t.Errorf("picture %d: got the text %q for %s", pictures, text[l], l)
			}
		}
	})
	if pictures < 3+1+1+5 { // scales, segments, signal, norms
		t.Errorf("got %d pictures", pictures)
	}
	want := regexp.MustCompile(`55\.3 s, of which 44\.\d s are speech.*The pitch is 9\d Hz`)
	if got := text["signal-text"]; !want.MatchString(got) {
		t.Errorf("got %q, want what the analysis found", got)
	}
}

// TestPageWithoutScores checks a recording that is too short, and one of silence.
func TestPageWithoutScores(t *testing.T) {
	r := analyse(t, "../testdata/short_en.wav")
	page := write(t, &report.Page{Analysis: r.a, Signal: report.NewSignal(r.c)})
	if n := strings.Count(page, "No score: 30 s of speech are needed"); n != 2 {
		t.Errorf("got %d reasons, want two", n)
	}
	silence := &features.Channel{Samples: make([]float64, 8000), Rate: 8000}
	nothing := &voicescreen.Analysis{Duration: 1, SampleRate: 8000, Quality: dsp.Quality{SNR: math.NaN(), Bandwidth: math.NaN()}}
	page = write(t, &report.Page{Analysis: nothing, Signal: report.NewSignal(silence)})
	for _, want := range []string{"No score: no score was asked for", "No pitch was found", "not known"} {
		if !strings.Contains(page, want) {
			t.Errorf("silence: want %q in the page", want)
		}
	}
	if strings.Contains(page, "NaN") || strings.Contains(page, "Inf") {
		t.Error("silence: got a number that is none")
	}
}

// TestPageEscapes checks that a title can bring in neither an element nor what XML cannot hold.
func TestPageEscapes(t *testing.T) {
	for title, want := range map[string]string{"<script>x</script>": "&lt;script&gt;", "bad\xff\xfename\x1b]0;x\x07\x00.wav": "bad\uFFFDname\uFFFD]0;x\uFFFD\uFFFD.wav", "\uFFFE\uFFFF": "\uFFFD"} {
		page := write(t, &report.Page{Title: title, Analysis: &voicescreen.Analysis{}})
		if strings.Contains(page, "<script") || !strings.Contains(page, want) {
			t.Errorf("%q: got the page\n%.400s\nwant %q in it and no element", title, page, want)
		}
		elements(t, page, func(xml.StartElement, string) {})
	}
}

// TestScaleShowsTheScore checks where the scale has score, interval and average.
func TestScaleShowsTheScore(t *testing.T) {
	s := &screen.Score{Category: screen.Depression, Probability: 0.5, Prior: 0.25, Low: 0.4, High: 0.75, Band: screen.Band{Low: 0.6, High: 0.8}}
	got := string(report.Scale(s))
	for _, want := range []string{
		`cx="360"`,                      // the middle of 12 … 708
		`x="290.4" y="33" width="243.6`, // 0.4 to 0.75
		`M186 49`,                       // 0.25
		`x="429.6" y="26" width="139.2`, // 0.6 to 0.8
		"50 of 100", "between 40 and 75 of 100", "a triangle, is at 25.", "From 60.0 to 80.0",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %q in it", got, want)
		}
	}
}

func TestSegmentsSayWhatTheyShow(t *testing.T) {
	s := &screen.Score{Category: screen.Deepfake, Segments: []screen.Segment{
		{Start: 0, End: 4, Probability: 0.2}, {Start: 4, End: 8, Probability: math.NaN()}, {Start: 8, End: 12, Probability: 0.9},
	}}
	got := string(report.Segments(s))
	for _, want := range []string{"1 of 3 segments are at 50 of 100 or above", "The lowest is 20, the highest 90", "1 segment has no score"} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %q in it", got, want)
		}
	}
	if n := strings.Count(got, `class="bar"`); n != 2 {
		t.Errorf("got %d bars, want two", n)
	}
	s.Segments = s.Segments[:1]
	if report.Segments(s) != "" {
		t.Error("got a picture of one segment, want none")
	}
	s.Segments = []screen.Segment{{Start: 3, End: 3}, {Start: 3, End: 3}}
	if report.Segments(s) != "" {
		t.Error("got a picture of no time, want none")
	}
}

// TestResultQualityIsThatOfTheAnalysis: what a session keeps says the same about a
// recording as its analysis, but for the sample rate.
func TestResultQualityIsThatOfTheAnalysis(t *testing.T) {
	a := interview(t).a
	kept := &voicescreen.Result{Duration: a.Duration, Analysed: a.Duration, Features: map[string]float64{}}
	for i, v := range a.Features.Values {
		if name, _ := a.Features.Schema.Feature(i); !math.IsNaN(v) {
			kept.Features[name] = v
		}
	}
	want := slices.DeleteFunc(report.AnalysisQuality(a).Facts(), func(f report.Fact) bool { return f.Name == "Sample rate" })
	if got := report.ResultQuality(kept).Facts(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	kept.Duration += 60
	if got := report.ResultQuality(kept).Facts()[0].Value; !strings.Contains(got, "the rest was not analysed") {
		t.Errorf("a recording that goes on: got %q, want it said", got)
	}
	if q := report.ResultQuality(&voicescreen.Result{}); q != nil {
		t.Errorf("a recording that was not analysed: got %+v, want nil", q)
	}
}
