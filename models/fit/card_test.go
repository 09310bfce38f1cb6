package fit

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/models"
)

// cards are the model cards that hold a table of evidence.
var cards = map[string]func() *Prior{
	"../shipped/DEPRESSION.md": DepressionPrior,
	"../shipped/ANXIETY.md":    AnxietyPrior,
}

const (
	tableBegins = "<!-- evidence: written by go test ./models/fit -update -->\n"
	tableEnds   = "<!-- end of evidence -->\n"
)

// TestCardsHoldTheEvidence holds the tables of the cards to the effects and to
// what they became in the shipped model.
func TestCardsHoldTheEvidence(t *testing.T) {
	for path, prior := range cards {
		p := prior()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, ok := strings.Cut(string(text), tableBegins)
		_, after, ended := strings.Cut(rest, tableEnds)
		if !ok || !ended {
			t.Fatalf("%s has no place for the table", path)
		}
		want := before + tableBegins + evidenceTable(p, priorFile(t, p)) + tableEnds + after
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if want != string(text) {
			t.Errorf("%s is not what the prior says; run go test ./models/fit -update", path)
		}
	}
}

func evidenceTable(p *Prior, f *models.BayesFile) string {
	var b strings.Builder
	b.WriteString("| row of the evidence | feature | prior d | sd | weight | sd | stability | basis |\n|---|---|---|---|---|---|---|---|\n")
	for i, e := range p.Effects {
		note := ""
		if e.FixedGain {
			note = "; only with a fixed gain"
		}
		fmt.Fprintf(&b, "| %s | `%s`%s | %s | %.2f | %s | %.3f | %.2f | %s |\n", e.Row, e.Feature, note, signed(e.D, 2), e.SD,
			signed(f.Features[i].Weight, 3), math.Sqrt(f.Covariance[i][i]), e.Stability, e.Basis)
	}
	for _, u := range p.Unused {
		fmt.Fprintf(&b, "| %s | not used: %s | %s | %.2f | | | | %s |\n", u.Row, u.Why, signed(u.D, 2), u.SD, u.Basis)
	}
	return b.String()
}

// signed prints x with its sign, as a reader of the card wants it.
func signed(x float64, digits int) string {
	s := fmt.Sprintf("%+.*f", digits, x)
	if x == 0 {
		s = "0"
	}
	return strings.Replace(s, "-", "−", 1)
}
