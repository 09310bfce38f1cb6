package prior

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/voicescreen/voicescreen/models"
)

// shipped lists the models that are made here: where their files and cards lie
// in the directory of the shipped models.
var shipped = []struct {
	file, card string
	prior      func() *Prior
}{
	{"files/depression.json", "DEPRESSION.md", Depression},
	{"files/anxiety.json", "ANXIETY.md", Anxiety},
}

const (
	tableBegins = "<!-- evidence: written by voicelab priors -->\n"
	tableEnds   = "<!-- end of evidence -->\n"
)

// Files makes the model files of the shipped priors, and their cards with the
// table of evidence that the effects and norms give. The cards are read from dir,
// the directory of the shipped models; the result is by path in it. Equal
// effects, norms and cards give equal bytes.
func Files(dir string, norms *Norms) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, s := range shipped {
		p := s.prior()
		f, err := p.File(norms)
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		if err := f.Write(&text); err != nil {
			return nil, err
		}
		card, err := os.ReadFile(filepath.Join(dir, s.card))
		if err != nil {
			return nil, fmt.Errorf("prior: card: %w", err)
		}
		before, rest, ok := strings.Cut(string(card), tableBegins)
		_, after, ended := strings.Cut(rest, tableEnds)
		if !ok || !ended {
			return nil, fmt.Errorf("prior: %s has no place for the table of evidence, want a line %q and a line %q", s.card,
				strings.TrimSpace(tableBegins), strings.TrimSpace(tableEnds))
		}
		out[s.file] = text.Bytes()
		out[s.card] = []byte(before + tableBegins + evidenceTable(p, f) + updateTable(p, norms) + tableEnds + after)
	}
	return out, nil
}

// evidenceTable is the table of a card: each effect, and what it became in the
// model.
func evidenceTable(p *Prior, f *models.BayesFile) string {
	var b strings.Builder
	b.WriteString("| row of the evidence | feature | prior d | samples | d | sd | weight | sd | stability | basis |\n|---|---|---|---|---|---|---|---|---|---|\n")
	now := p.Current()
	for i, e := range p.Effects {
		var samples []string
		for _, s := range p.Samples {
			if s.Feature == e.Feature {
				samples = append(samples, s.Name+" "+signed(s.D, 2))
			}
		}
		note := ""
		if e.FixedGain {
			note = "; only with a fixed gain"
		}
		fmt.Fprintf(&b, "| %s | `%s`%s | %s ± %.2f | %s | %s | %.2f | %s | %.3f | %.2f | %s |\n", e.Row, e.Feature, note, signed(e.D, 2), e.SD,
			strings.Join(samples, "; "), signed(now[i].D, 2), now[i].SD,
			signed(f.Features[i].Weight, 3), math.Sqrt(f.Covariance[i][i]), e.Stability, e.Basis)
	}
	for _, u := range p.Unused {
		fmt.Fprintf(&b, "| %s | not used: %s | %s ± %.2f | | | | | | | %s |\n", u.Row, u.Why, signed(u.D, 2), u.SD, u.Basis)
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
