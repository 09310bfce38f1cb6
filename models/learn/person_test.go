package learn

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

func TestCopiesOfARecordingAreOfOnePerson(t *testing.T) {
	type heard struct {
		who   person
		value float64
	}
	a, b, c, d := person{"x", "a"}, person{"x", "b"}, person{"x", "c"}, person{"y", "a"}
	for name, v := range map[string]struct {
		in   []heard
		want []person
	}{
		"nobody":                   {nil, []person{}},
		"people":                   {[]heard{{a, 1}, {b, 2}, {a, 3}, {d, 4}}, []person{a, b, a, d}},
		"a copy":                   {[]heard{{a, 1}, {b, 1}, {d, 1}, {c, 2}}, []person{a, a, a, c}},
		"a copy, and another":      {[]heard{{a, 1}, {b, 2}, {b, 1}, {c, 2}}, []person{a, a, a, a}},
		"two people of one, later": {[]heard{{a, 1}, {b, 2}, {c, 3}, {c, 1}, {c, 2}}, []person{a, a, a, a, a}},
		"no measure, twice":        {[]heard{{a, math.NaN()}, {b, math.NaN()}}, []person{a, a}},
	} {
		got := persons(len(v.in), func(i int) (person, *features.Recording) {
			return v.in[i].who, &features.Recording{Features: features.Vector{Values: []float64{7, v.in[i].value}}}
		})
		if !slices.Equal(got, v.want) {
			t.Errorf("%s: got %q, want %q", name, got, v.want)
		}
	}
}

// A probe of a service, one recording under many names, is one voice: it is too few to learn
// from, and to adapt norms to.
func TestAProbeTeachesNothing(t *testing.T) {
	prior := shippedFile(t, screen.Depression)
	base, err := models.NewBayes(prior)
	if err != nil {
		t.Fatal(err)
	}
	examples := population40(t, prior, 200, 1)
	var voices []Voice
	for i := range examples {
		examples[i].Recording = examples[0].Recording
		voices = append(voices, Voice{Account: "a", User: examples[i].User, Recording: examples[0].Recording})
	}
	if _, err := Learn(t.Context(), prior, base, examples, nil); !errors.Is(err, ErrFewLabels) {
		t.Errorf("Learn: got error %v, want %v", err, ErrFewLabels)
	}
	if _, err := Adapt(t.Context(), prior, base, voices, nil); !errors.Is(err, ErrFewPeople) {
		t.Errorf("Adapt: got error %v, want %v", err, ErrFewPeople)
	}
}
