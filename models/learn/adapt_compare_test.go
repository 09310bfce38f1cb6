package learn

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// TestAdaptAgain adapts where former norms were adapted: only people recorded since
// can show that the new norms are worse.
func TestAdaptAgain(t *testing.T) {
	t.Parallel()
	prior := shippedFile(t, screen.Depression)
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	draw := func(shift float64, n int, seed uint64, name string, at time.Time) []Voice {
		out := (&crowd{shift: shift, scale: 1}).voices(t, prior, n, seed)
		for i := range out {
			out[i].User, out[i].Time = name+out[i].User, at
		}
		return out
	}
	old := draw(0.6, 200, 20, "old ", at)
	former := scorerOf(t, adapt(t, prior, old, nil).File)
	since := draw(0.6, 40, 21, "new ", at.AddDate(0, 0, 1))
	// Somebody who was there before is not new.
	again := slices.Clone(old[:5])
	for i := range again {
		again[i].Time = at.AddDate(0, 0, 2)
	}
	for _, c := range []struct {
		name   string
		voices []Voice
		better bool
		fresh  bool
		people int // of OverFormer
	}{
		{"some are gone", old[:150], true, false, 150},
		{"more of the kind", slices.Concat(old, since, again), true, true, 40},
		{"too few since", slices.Concat(old, since[:LeastPeople-1]), true, false, 229},
		{"the others are of another kind", slices.Concat(draw(-1, 400, 22, "other ", at), since), false, true, 40},
	} {
		got, err := Adapt(t.Context(), prior, former, c.voices, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Better != c.better || got.Fresh != c.fresh || got.OverFormer.People != c.people {
			t.Errorf("%s: got Better %v, Fresh %v, %+v, want %v, %v and %d people; %s", c.name, got.Better, got.Fresh, got.OverFormer, c.better, c.fresh, c.people, got.Reason)
		}
		if !c.better && !strings.Contains(got.Reason, "recorded since") {
			t.Errorf("%s: got reason %q", c.name, got.Reason)
		}
	}
	// Norms of other features cannot be compared.
	other := *former.File()
	other.Features = slices.Clone(other.Features)
	other.Features[0].Transform = models.LogOdds
	got, err := Adapt(t.Context(), prior, scorerOf(t, &other), old, nil)
	if err != nil || !got.Better || got.OverFormer != got.Gain {
		t.Errorf("other features: got %+v and error %v, want the prior in their place", got, err)
	}
}

// TestLogDensityIsStudents compares with the definition, where R is the identity.
func TestLogDensityIsStudents(t *testing.T) {
	const tolerance = 1e-9
	prior := *shippedFile(t, screen.Depression)
	n := len(prior.Features)
	prior.Correlation = make([][]float64, n)
	for i := range prior.Correlation {
		prior.Correlation[i] = make([]float64, n)
		prior.Correlation[i][i] = 1
	}
	voices := (&crowd{scale: 1}).voices(t, &prior, 2, 23)
	voices[1].Recording.Metadata.Gender = 0
	a := newAdapter(scorerOf(t, &prior), voices, 0)
	by := func(i, g int) float64 {
		var square, l float64
		for k := range prior.Features {
			s := spreadOf(&prior.Features[k], g)
			z := (a.rows[i].value[k] - s.Center) / s.Scale
			square += z * z / (1 + a.rows[i].noise[k])
			l -= math.Log(s.Scale) + math.Log(1+a.rows[i].noise[k])/2
		}
		return l - (studentNu+float64(n))/2*math.Log(1+square/(studentNu-2))
	}
	first := 0
	if voices[0].Recording.Metadata.Gender == screen.Male {
		first = numWays
	}
	if got, want := a.logDensity(&prior, 0), by(0, first); math.Abs(got-want) > tolerance {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := a.logDensity(&prior, 1), math.Log(0.5*math.Exp(by(1, 0))+0.5*math.Exp(by(1, numWays))); math.Abs(got-want) > tolerance {
		t.Errorf("sex not known: got %v, want %v", got, want)
	}
}

// TestAdaptShrinksCorrelations draws 200 people of the prior's correlation and of
// another one. A correlation that is found has a variance of about 1/200: of people of
// the prior's own most of the difference is error, and is to be shrunk away; of the
// others it is to stay.
func TestAdaptShrinksCorrelations(t *testing.T) {
	t.Parallel()
	const people, populations = 200, 6
	prior := shippedFile(t, screen.Depression)
	square := func(a, b [][]float64) (mean float64) {
		n := float64(len(a) * (len(a) - 1))
		for i := range a {
			for j := range a[i] {
				mean += (a[i][j] - b[i][j]) * (a[i][j] - b[i][j]) / n
			}
		}
		return mean
	}
	var same, changed float64 // mean squares of what is off
	for seed := range uint64(populations) {
		for truth, sum := range map[*crowd]*float64{
			{shift: 0.5, scale: 1}:                            &same,
			{shift: 0.5, scale: 1, correlation: other(prior)}: &changed,
		} {
			r := truth.correlation
			if r == nil {
				r = prior.Correlation
			}
			*sum += square(adapt(t, prior, truth.voices(t, prior, people, 40+seed), nil).File.Correlation, r) / populations
		}
	}
	was := square(prior.Correlation, other(prior))
	t.Logf("mean squares of what is off: %.5f of the prior's correlation, %.5f of another one, which is %.5f from the prior's", same, changed, was)
	if same > 0.25/people {
		t.Errorf("people of the prior's correlation: got a mean square of %.5f, want at most a quarter of that of what is found, %.5f", same, 1./people)
	}
	if changed > 1./people {
		t.Errorf("people of another correlation: got a mean square of %.5f, want at most that of what is found, %.5f", changed, 1./people)
	}
}
