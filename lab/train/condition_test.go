package train

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/spoof"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/manifest"
)

// TestCentresFollowTheCovariates makes a feature of people that is a known function of
// the pitch, and one that is none; synthetic voices lie 2 above it.
func TestCentresFollowTheCovariates(t *testing.T) {
	schema := spoof.Schema()
	pitch, length := schema.Index("voice.pitch_oct"), schema.Index("voice.length_log")
	rng := rand.New(rand.NewPCG(1, 2))
	tr := &trainer{schema: schema}
	expected := func(octave float64) float64 { return 3*(octave-7) + 2*(octave-7)*(octave-7) }
	for i := range 2000 {
		v := make([]float64, schema.Len())
		for j := range v {
			v[j] = rng.NormFloat64()
		}
		v[pitch], v[length] = 7+0.5*rng.NormFloat64(), rng.NormFloat64()
		v[0] = expected(v[pitch]) + 0.1*rng.NormFloat64()
		if i%2 == 1 {
			v[0] += 2
		}
		if i%50 == 0 {
			v[0], v[pitch] = math.NaN(), math.NaN()
		}
		tr.train = append(tr.train, manifest.Row{Source: "page", System: string(rune('a' + i%7)), Positive: i%2 == 1})
		tr.vectors = append(tr.vectors, [][]features.Vector{{{Schema: schema, Values: v}}})
	}
	index := stats.Indices(len(tr.train))
	d := tr.design(index, &recipe{})
	if len(d.covariates) != 2 || len(d.features) != schema.Len()-2 {
		t.Fatalf("got %d covariates and %d features, want 2 and %d", len(d.covariates), len(d.features), schema.Len()-2)
	}
	c := tr.conditioned(d, index)
	f, v := &c.features[0], make([]float64, schema.Len())
	at := func(octave float64) float64 {
		v[pitch] = octave
		return f.Above(0, c.terms(features.Vector{Schema: schema, Values: v}))
	}
	for _, octave := range []float64{6.2, 6.8, 7.5, 7.9} {
		got, want := at(7)-at(octave), expected(octave)-expected(7)
		if math.Abs(got-want) > 0.1+0.1*math.Abs(want) { // the penalty shrinks slopes
			t.Errorf("from octave 7 to %v: got %v, want %v", octave, got, want)
		}
	}
	for k, s := range c.features[5].Slopes {
		if math.Abs(s) > 0.15 {
			t.Errorf("a feature that does not depend on term %d: got a slope of %v", k, s)
		}
	}
	if before := d.features[0].Slopes[0]; before != 0 || f.Scale >= d.features[0].Scale {
		t.Errorf("got a slope of %v in the design before, and scales of %v and then %v", before, d.features[0].Scale, f.Scale)
	}
}
