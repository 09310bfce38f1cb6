package prior

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/shared"
)

// TestPriorsAreThoseOfTheEvidence holds every effect to the table of evidence:
// each row of it is used, or is named as not used, with its numbers.
func TestPriorsAreThoseOfTheEvidence(t *testing.T) {
	text, err := os.ReadFile(shared.File(t, "evidence/evidence.json"))
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Feature string  `json:"feature"`
		D       float64 `json:"prior_d"`
		SD      float64 `json:"prior_sd"`
	}
	var file struct {
		Prior struct {
			Depression []row `json:"depression"`
			Anxiety    []row `json:"anxiety"`
		} `json:"proposed_prior"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for prior, rows := range map[*Prior][]row{Depression(): file.Prior.Depression, Anxiety(): file.Prior.Anxiety} {
		if len(rows) == 0 {
			t.Fatalf("%v: the evidence has no rows", prior.Category)
		}
		want := map[string]row{}
		for _, r := range rows {
			want[r.Feature] = r
		}
		seen := map[string]bool{}
		check := func(name string, d, sd float64) {
			seen[name] = true
			if r, ok := want[name]; !ok || r.D != d || r.SD != sd {
				t.Errorf("%v, %s: got d %v and sd %v, want %+v", prior.Category, name, d, sd, r)
			}
		}
		for _, e := range prior.Effects {
			d := e.D
			if e.Feature == "spectral.alpha_db" { // low over high, where the evidence has high over low
				d = -d
			}
			check(e.Row, d, e.SD)
			if (e.Feature == "level.mean_dbfs") != e.FixedGain {
				t.Errorf("%v, %s: got fixed gain %v", prior.Category, e.Feature, e.FixedGain)
			}
		}
		for _, u := range prior.Unused {
			check(u.Row, u.D, u.SD)
		}
		for name := range want {
			if !seen[name] {
				t.Errorf("%v: the row %s is neither used nor named as not used", prior.Category, name)
			}
		}
	}
}
