package report

import (
	"math"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
)

// shippedFeatures are the names of the features that the shipped models use.
func shippedFeatures(t *testing.T) (names []string) {
	t.Helper()
	scorers, err := shipped.Scorers()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scorers {
		switch m := s.(type) {
		case *models.Bayes:
			for _, f := range m.File().Features {
				names = append(names, f.Name)
			}
		case *models.Linear:
			for _, f := range m.File().Features {
				names = append(names, f.Name)
			}
		default:
			t.Fatalf("%s: got a model of type %T, whose features this test does not know", s.Info().Name, s)
		}
	}
	if len(names) < 100 {
		t.Fatalf("got %d features, want those of three models", len(names))
	}
	return names
}

// Every feature of a shipped model has words, in both directions, without its name.
func TestEveryShippedFeatureHasWords(t *testing.T) {
	for _, name := range shippedFeatures(t) {
		above := InWords(screen.Contribution{Feature: name, Deviation: 1})
		below := InWords(screen.Contribution{Feature: name, Deviation: -1})
		if !strings.HasSuffix(above, " than usual") || !strings.HasSuffix(below, " than usual") || above == below {
			t.Errorf("%s: got %q and %q, want words that end in \"than usual\" for each", name, above, below)
		}
		if strings.ContainsAny(above+below, "_.#") || strings.Contains(above, name) {
			t.Errorf("%s: got %q and %q, want words", name, above, below)
		}
	}
}

func TestMeasuresInWords(t *testing.T) {
	for _, c := range []struct {
		feature   string
		deviation screen.SD
		want      string
	}{
		{"pause.sd_s", 1.2, "pauses vary more than usual"},
		{"pause.sd_s", -1.2, "pauses vary less than usual"},
		{"pause.sd_s", 0.3, "pauses vary more than usual, by little"},
		{"speech.rate_syl_s", -2.5, "the person speaks slower than usual, by far"},
		{"quefrency.band11.sd_log", 1, "the ripples of the spectrum vary more than usual"},
		{"pause.sd_s", 0, "pause.sd_s"}, // not known
		{"pause.sd_s", screen.SD(math.NaN()), "pause.sd_s"},
		{"dam.depression", 1, "dam.depression"},
		{"time.11.7-22.3_s", 0, "the part from 11.7 to 22.3 s"},
		{"time.band", 0, "time.band"},
	} {
		if got := InWords(screen.Contribution{Feature: c.feature, Deviation: c.deviation}); got != c.want {
			t.Errorf("%s by %v: got %q, want %q", c.feature, c.deviation, got, c.want)
		}
	}
}
