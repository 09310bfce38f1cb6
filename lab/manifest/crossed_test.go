package manifest

import (
	"fmt"
	"testing"
)

// crossedRows are pages with one voice that is on half of them, and systems of
// several families and years.
func crossedRows() []Row {
	var rows []Row
	spoofs := []string{"HiFi-GAN-V1", "VITS", "WaveGlow", "MelGAN", "WORLD-vocoder", "Matcha-TTS", "unheard of"}
	kinds := []string{"vocoder", "tts", "vocoder", "vocoder", "classical", "tts", "vc"}
	for page := range 20 {
		source := fmt.Sprint("page", page)
		for k := range 4 {
			r := Row{Path: fmt.Sprint(page, ".", k), Source: source, Speaker: fmt.Sprint("v", page), Label: "bonafide"}
			if k > 0 {
				s := (page + 3*k) % len(spoofs)
				r.Label, r.Positive, r.System, r.Kind = "spoof", true, spoofs[s], kinds[s]
			}
			if k == 3 && page < 10 {
				r.Speaker = "common"
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// checkApart reports rows that a cell both trains on and tests by their source or
// their speaker.
func checkApart(t *testing.T, rows []Row, c Cell) {
	t.Helper()
	for _, i := range c.Test {
		for _, j := range c.Train {
			if rows[i].Source == rows[j].Source || rows[i].Speaker == rows[j].Speaker {
				t.Fatalf("tests %s, of %s and %s, and trains on %s", rows[i].Path, rows[i].Source, rows[i].Speaker, rows[j].Path)
			}
		}
	}
}

func TestCrossedHoldsOutSourceSpeakerAndDecoder(t *testing.T) {
	rows := crossedRows()
	tested := map[int]int{}
	for _, c := range Crossed(rows, 4, 3, 0) {
		checkApart(t, rows, c)
		if len(c.Train) == 0 {
			t.Fatal("a cell trains on nothing")
		}
		for _, i := range c.Test {
			tested[i]++
			for _, j := range c.Train {
				if rows[i].Positive && rows[j].Positive && rows[i].Family() == rows[j].Family() {
					t.Fatalf("tests %s and trains on %s, both %s", rows[i].System, rows[j].System, rows[i].Family())
				}
			}
		}
	}
	for i, r := range rows {
		if n := tested[i]; r.Positive && n != 1 || n == 0 {
			t.Errorf("%s, positive %v: tested %d times", r.Path, r.Positive, n)
		}
	}
}

func TestByKindHoldsOutTheKind(t *testing.T) {
	rows := crossedRows()
	found := map[string]bool{}
	for _, c := range ByKind(rows, 4, 0) {
		checkApart(t, rows, c)
		found[c.Name] = true
		for _, j := range c.Train {
			if rows[j].Positive && rows[j].Kind == c.Name {
				t.Fatalf("trains on %s of the kind %s that it tests", rows[j].Path, c.Name)
			}
		}
		for _, i := range c.Test {
			if rows[i].Positive && rows[i].Kind != c.Name {
				t.Fatalf("tests the kind %s with %s of the kind %s", c.Name, rows[i].Path, rows[i].Kind)
			}
		}
	}
	if len(found) != 4 {
		t.Errorf("got the kinds %v, want the four of the rows", found)
	}
}

func TestSinceTestsLaterSystemsOnly(t *testing.T) {
	rows := crossedRows()
	c := Since(rows, 2023, 0)
	checkApart(t, rows, c)
	var spoofs, people int
	for _, i := range c.Test {
		if rows[i].Speaker == "common" {
			t.Errorf("tests %s of the common voice", rows[i].Path)
		}
		switch {
		case !rows[i].Positive:
			people++
		case rows[i].System != "Matcha-TTS":
			t.Errorf("tests %s", rows[i].System)
		default:
			spoofs++
		}
	}
	if spoofs == 0 || people == 0 {
		t.Errorf("tests %d synthetic and %d other rows, want some of both", spoofs, people)
	}
	for _, j := range c.Train {
		if s := rows[j].System; s == "Matcha-TTS" || s == "unheard of" {
			t.Errorf("trains on %s", s)
		}
	}
}

func TestUnitsOfACommonVoice(t *testing.T) {
	rows := crossedRows()
	units := map[string]bool{}
	for i, u := range Units(rows) {
		if rows[i].Speaker == "common" {
			units[u] = true
		} else if u != rows[i].Source {
			t.Errorf("%s: got the unit %q, want its page", rows[i].Path, u)
		}
	}
	if len(units) != 1 {
		t.Errorf("got %d units of one voice on ten pages, want 1", len(units))
	}
}

func TestSystemsTable(t *testing.T) {
	if len(systems) < 300 {
		t.Fatalf("got %d systems", len(systems))
	}
	for name, s := range systems {
		if s.year < 1970 || s.year > 2026 {
			t.Errorf("%s: year %d", name, s.year)
		}
	}
	vits, gan := Row{System: "VITS"}, Row{System: "HiFi-GAN-V1"}
	if vits.Family() != "hifigan" || gan.Family() != "hifigan" {
		t.Errorf("got the families %q and %q, want one", vits.Family(), gan.Family())
	}
	if unknown := (&Row{System: "x"}); unknown.Year() != 0 || unknown.Family() == (&Row{System: "y"}).Family() {
		t.Errorf("unknown systems: year %d, family %q", unknown.Year(), unknown.Family())
	}
}
