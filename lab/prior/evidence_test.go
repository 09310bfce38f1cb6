package prior

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/shared"
)

// evidenceRow is one row of the table of evidence.
type evidenceRow struct {
	Feature string  `json:"feature"`
	D       float64 `json:"prior_d"`
	SD      float64 `json:"prior_sd"`
}

// evidenceTables are the rows for each model.
type evidenceTables struct {
	Depression []evidenceRow `json:"depression"`
	Anxiety    []evidenceRow `json:"anxiety"`
}

// TestPriorsAreThoseOfTheEvidence compares every effect with the table of
// evidence, testdata/evidence.json: each row of it is used, or is named as not
// used, with its numbers. The table is that of the evidence beside the repository.
func TestPriorsAreThoseOfTheEvidence(t *testing.T) {
	var tables evidenceTables
	readJSON(t, "testdata/evidence.json", &tables)
	if path, ok := shared.Find(t, "evidence/evidence.json"); ok {
		var file struct {
			Prior evidenceTables `json:"proposed_prior"`
		}
		readJSON(t, path, &file)
		if !reflect.DeepEqual(file.Prior, tables) {
			t.Errorf("testdata/evidence.json differs from %s", path)
		}
	}
	for prior, rows := range map[*Prior][]evidenceRow{Depression(): tables.Depression, Anxiety(): tables.Anxiety} {
		if len(rows) == 0 {
			t.Fatalf("%v: the evidence has no rows", prior.Category)
		}
		want := map[string]evidenceRow{}
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

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}
