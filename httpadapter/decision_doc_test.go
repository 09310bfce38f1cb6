package httpadapter

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
)

const decisionPage = "../docs/DECISIONS.md"

// Each row of the table of worked examples is what the models and answers do. With
// -update, the right half of each row is written.
func TestWorkedExamples(t *testing.T) {
	page, err := os.ReadFile(decisionPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(page), "|---|---|---|---|---|---|---|---|\n")
	table, after, ok := strings.Cut(rest, "<!-- end of examples -->")
	if !ok {
		t.Fatal("the page has no table of examples")
	}
	var rows, written []string
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|") // with an empty one at either end
		if len(cells) != 10 {
			t.Fatalf("got %d cells in %q, want 8", len(cells)-2, line)
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		want := fmt.Sprintf("| %s | %s |\n", strings.Join(cells[1:5], " | "), strings.Join(workedExample(t, cells[1:5]), " | "))
		if line != want {
			t.Errorf("got the row\n%swant\n%s", line, want)
		}
		rows, written = append(rows, line), append(written, want)
	}
	if len(rows) < 20 {
		t.Errorf("got %d rows, want at least 20", len(rows))
	}
	if u := flag.Lookup("update"); u != nil && u.Value.String() == "true" {
		text := before + "|---|---|---|---|---|---|---|---|\n" + strings.Join(written, "") + "<!-- end of examples -->" + after
		if err := os.WriteFile(decisionPage, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// workedExample returns the right half of a row, given its left half.
func workedExample(t *testing.T, in []string) []string {
	t.Helper()
	var c screen.Category
	if err := c.UnmarshalText([]byte(in[0])); err != nil {
		t.Fatal(err)
	}
	voice, rate := parsed(t, in[1]), parsed(t, in[2])
	var s screen.Score
	if c == screen.Deepfake {
		s = deepfakeScore(t, voice)
		s.SetPrior(rate)
	} else {
		s = voiceScore(t, c, voice, rate)
	}
	own := exampleThresholds(t, in[3])
	if err := own.Check(c); err != nil {
		t.Fatal(err)
	}
	own.Apply(&s)
	class, answer := "–", "–"
	if s.Severity.Valid() {
		class = "`" + s.Severity.String() + "`"
	}
	switch c {
	case screen.Depression:
		r := &voicescreen.Result{Product: screen.DepressionBinary, Status: screen.StatusSuccess, Scores: []screen.Score{s}}
		answer = "`" + *newPrediction(r, false).PredictedScore + "`"
	case screen.Deepfake:
		r := &voicescreen.Result{Product: screen.DeepfakeBinary, Status: screen.StatusSuccess, Scores: []screen.Score{s}}
		answer = "`" + *newDeepfake(r, false).PredictedScore + "`"
	}
	return []string{fmt.Sprintf("%.3f", s.Probability), class, s.Decision.String(), answer}
}

// voiceScore is the score by a shipped model, at a base rate, of a voice that has a
// probability at the shipped base rate.
func voiceScore(t *testing.T, c screen.Category, voice, rate float64) screen.Score {
	t.Helper()
	scorers, err := shipped.Scorers()
	if err != nil {
		t.Fatal(err)
	}
	own := scorers[c-screen.Depression].(*models.Bayes)
	f := own.File()
	var norm float64
	for _, x := range f.Features {
		norm += x.Weight * x.Weight
	}
	row := models.Row{Z: make([]float64, len(f.Features)), Measured: make([]bool, len(f.Features)), Counts: make([]bool, len(f.Features)), Female: 1}
	eta := math.Log(voice/(1-voice)) + f.Thresholds[models.DecisionBand]
	for i, x := range f.Features {
		row.Z[i], row.Measured[i], row.Counts[i] = eta*x.Weight/norm, true, true
	}
	m := own
	if math.Abs(rate-map[screen.Category]float64{screen.Depression: 0.08, screen.Anxiety: 0.061}[c]) > 1e-9 {
		if m, err = own.WithBaseRate(rate); err != nil {
			t.Fatal(err)
		}
	}
	return m.ScoreRow(row, features.Vector{Schema: features.VoiceSchema(), Values: make([]float64, features.VoiceSchema().Len())})
}

// deepfakeScore is a score with the band of the shipped model.
func deepfakeScore(t *testing.T, p float64) screen.Score {
	t.Helper()
	scorers, err := shipped.Scorers()
	if err != nil {
		t.Fatal(err)
	}
	f := scorers[2].(*models.Linear).File()
	s := screen.Score{Category: screen.Deepfake, Model: f.Name, Version: f.Version, Probability: p, Prior: f.Prior}
	s.Decide(f.Indeterminate.Of(screen.Deepfake))
	return s
}

// exampleThresholds reads a cell such as "0.1 to 0.2; classes 0.3, 0.4".
func exampleThresholds(t *testing.T, text string) (own screen.Thresholds) {
	t.Helper()
	if text == "–" {
		return own
	}
	for part := range strings.SplitSeq(text, "; ") {
		if list, ok := strings.CutPrefix(part, "classes "); ok {
			for v := range strings.SplitSeq(list, ", ") {
				own.Classes = append(own.Classes, parsed(t, v))
			}
			continue
		}
		from, to, _ := strings.Cut(part, " to ")
		low, high := parsed(t, from), parsed(t, to)
		own.Low, own.High = &low, &high
	}
	return own
}

func parsed(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
