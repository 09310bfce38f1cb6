package report_test

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/report"
	"github.com/voicescreen/voicescreen/screen"
)

func TestHistory(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 12, 0, 0, 0, time.UTC) }
	score := func(p float64) *screen.Score {
		return &screen.Score{Category: screen.Depression, Probability: p, Low: p / 2, High: (1 + p) / 2, Band: screen.Band{Low: 0.3, High: 0.5}}
	}
	points := []report.Point{{At: day(9), Score: score(0.6)}, {At: day(1), Score: score(0.2), Label: "12"}, {At: day(5), Label: "7"}}
	got := string(report.History(screen.Depression, points))
	xs := map[string]bool{}
	texts := []string{}
	elements(t, got, func(e xml.StartElement, text string) {
		switch e.Name.Local {
		case "circle":
			xs[attribute(e, "cx")] = true
		case "text", "desc":
			texts = append(texts, text)
		}
	})
	if len(xs) != 2 || !xs["50"] || !xs["698"] {
		t.Errorf("got dots at %v, want 2 at the ends", xs)
	}
	all := strings.Join(texts, "|")
	for _, want := range []string{"2 scores", "from 20 to 60 of 100, the last 60", "2 totals of questionnaires", "hatched", "|12|", "|7|", "2026-01-01", "2026-01-09"} {
		if !strings.Contains(all+"|", want) {
			t.Errorf("got %q, want %q in it", all, want)
		}
	}
	if points[0].At != day(9) {
		t.Error("the points of the caller were sorted")
	}
	if one := report.History(screen.Depression, points[:1]); !strings.Contains(string(one), `cx="374"`) {
		t.Errorf("one point: got %s, want it in the middle", one)
	}
	if none := report.History(screen.Depression, points[2:]); none != "" {
		t.Errorf("no score: got %s, want nothing", none)
	}
}
