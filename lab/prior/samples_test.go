package prior

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func currentOf(t *testing.T, p *Prior, feature string) Effect {
	t.Helper()
	i := slices.IndexFunc(p.Effects, func(e Effect) bool { return e.Feature == feature })
	if i < 0 {
		t.Fatalf("no effect of %s", feature)
	}
	return p.Current()[i]
}

// TestSamplesBringEffectsUpToDate compares with the posterior of a normal mean whose
// measurements have the errors se² + 0.15², computed here.
func TestSamplesBringEffectsUpToDate(t *testing.T) {
	p := Depression()
	for _, c := range []struct {
		feature string
		d, sd   float64 // before
		samples [][2]float64
	}{
		{spreadMFCC, -0.25, 0.20, [][2]float64{{-0.47, 0.27}, {-0.63, 0.23}}},
		{"pause.mean_s", 0.25, 0.15, [][2]float64{{0.05, 0.27}}},
		{"vowel.space", -0.15, 0.15, nil},
	} {
		precision, sum := 1/(c.sd*c.sd), c.d/(c.sd*c.sd)
		for _, s := range c.samples {
			w := 1 / (s[1]*s[1] + 0.0225)
			precision, sum = precision+w, sum+w*s[0]
		}
		got := currentOf(t, p, c.feature)
		if math.Abs(got.D-sum/precision) > 0.0051 || math.Abs(got.SD-1/math.Sqrt(precision)) > 0.0051 {
			t.Errorf("%s: got %v ± %v, want %.3f ± %.3f", c.feature, got.D, got.SD, sum/precision, 1/math.Sqrt(precision))
		}
	}
	if got := currentOf(t, p, spreadMFCC); math.Abs(got.D+0.40) > 0.005 || math.Abs(got.SD-0.15) > 0.011 {
		t.Errorf("got a spread of the MFCC of %v ± %v, want -0.40 ± 0.15", got.D, got.SD)
	}
	for _, feature := range []string{"f0.sd_st", "shimmer.local_db"} {
		if got := currentOf(t, p, feature); got.D != 0 || got.SD >= 0.2 {
			t.Errorf("%s: got %v ± %v, want 0 and less than before", feature, got.D, got.SD)
		}
	}
}

// TestASampleCanBeTakenOut checks that without its rows a sample leaves no trace.
func TestASampleCanBeTakenOut(t *testing.T) {
	p := Depression()
	for _, name := range sampleNames(p.Samples) {
		without := *p
		without.Samples = slices.DeleteFunc(slices.Clone(p.Samples), func(s Sample) bool { return s.Name == name })
		var changed int
		for i, e := range without.Current() {
			touched := slices.ContainsFunc(p.Samples, func(s Sample) bool { return s.Name == name && s.Feature == e.Feature })
			if now := p.Current()[i]; now.SD != e.SD && !touched {
				t.Errorf("%s: %s changed without a row of it", name, e.Feature)
			} else if now != e {
				changed++
			}
		}
		if changed == 0 {
			t.Errorf("without %s nothing changed", name)
		}
	}
	without := *p
	without.Samples = nil
	if !slices.Equal(without.Current(), p.Effects) {
		t.Error("without samples: got other effects than the prior's")
	}
}

// TestAnxietyIsOnlyComparedWithSamples checks that the samples of anxiety change no
// effect, what the update by them would be, and why it is not made: weights that have
// not seen a sample rank it about as chance does.
func TestAnxietyIsOnlyComparedWithSamples(t *testing.T) {
	const chance = 0.16 // two standard errors of an AUC of 19 and 47 people
	norms, err := ShippedNorms()
	if err != nil {
		t.Fatal(err)
	}
	p := Anxiety()
	if len(p.Against) == 0 || !slices.Equal(p.Current(), p.Effects) {
		t.Fatalf("got %d samples and the effects %+v, want samples that change no effect", len(p.Against), p.Current())
	}
	with := *p
	with.Samples, with.Against = p.Against, nil
	precision, sum := 1/(0.15*0.15), 0.05/(0.15*0.15)
	for _, s := range [][2]float64{{0.12, 0.29}, {0.87, 0.28}} { // EMU, Kappen
		w := 1 / (s[1]*s[1] + 0.0225)
		precision, sum = precision+w, sum+w*s[0]
	}
	if got := currentOf(t, &with, "f0.sd_st"); math.Abs(got.D-sum/precision) > 0.0051 {
		t.Errorf("f0.sd_st: got %v, want %.3f", got.D, sum/precision)
	}
	for _, name := range sampleNames(p.Against) {
		without := with
		without.Samples = slices.DeleteFunc(slices.Clone(p.Against), func(s Sample) bool { return s.Name == name })
		w, err := without.share(norms)
		if err != nil {
			t.Fatal(err)
		}
		d := make([]float64, len(p.Effects))
		for i, e := range p.Effects {
			d[i] = math.NaN()
			for _, s := range p.Against {
				if s.Name == name && s.Feature == e.Feature {
					d[i] = s.D
				}
			}
		}
		if auc := p.auc(norms, w, d); math.Abs(auc-0.5) > chance {
			t.Errorf("%s: got an AUC of %.3f of weights without it, want chance: with more than that the update is worth making", name, auc)
		}
	}
	if table := updateTable(p, norms); !strings.Contains(table, "would be") || !strings.Contains(table, "| Kappen | 10 |") {
		t.Errorf("got the table\n%s\nwant what the update would be", table)
	}
}

func TestFaultsOfSamplesAreNamed(t *testing.T) {
	const head = "sample,feature,d,se,note\n"
	for text, want := range map[string]string{
		"":                                 "columns",
		"sample,feature,d,sd,note\n":       "columns",
		head + "EMU,speech.tempo,0,1,\n":   `no feature "speech.tempo"`,
		head + ",pause.mean_s,0,1,\n":      "row 1 has no sample",
		head + "EMU,pause.mean_s,x,1,\n":   `d is "x"`,
		head + "EMU,pause.mean_s,0,0,\n":   `se is "0"`,
		head + "EMU,pause.mean_s,0,NaN,\n": `se is "NaN"`,
		head + "EMU,pause.mean_s,0\n":      "wrong number of fields",
	} {
		if _, err := readSamples(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error that says %s", text, err, want)
		}
	}
}
