package main

import (
	"math"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/features/egemaps"
)

// madeSet is four files whose values differ by 0.5 from those of the other program, in
// opposite order for the second functional. The fifth has an undefined value.
func madeSet() []sample {
	var set []sample
	for j := range 5 {
		s := sample{speech: true, ours: make([]float64, 88), theirs: make([]float64, 88)}
		for i := range s.ours {
			s.theirs[i] = float64(j + 1)
			s.ours[i] = s.theirs[i] + 0.5
		}
		s.ours[1] = -s.theirs[1]
		set = append(set, s)
	}
	set[4].theirs[0], set[4].ours[1] = 0, math.NaN()
	return set
}

func TestCompare(t *testing.T) {
	all := func(sample) bool { return true }
	for i, want := range []agreement{
		{n: 4, correlation: 1, bias: 0.5, mean: 2.5, sd: 1.290994},
		{n: 4, correlation: -1, bias: -5, mean: 2.5, sd: 1.290994},
		{n: 5, correlation: 1, bias: 0.5, mean: 3, sd: 1.581139},
	} {
		got := compare(madeSet(), i, all)
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }
		if got.n != want.n || !near(got.correlation, want.correlation) || !near(got.bias, want.bias) || !near(got.mean, want.mean) || !near(got.sd, want.sd) {
			t.Errorf("functional %d: got %+v, want %+v", i, got, want)
		}
	}
	if got := compare(madeSet(), 0, func(sample) bool { return false }).String(); got != "0 | – | – | – | –" {
		t.Errorf("got %q without files", got)
	}
}

func TestPageHasEveryFunctionalAndItsNote(t *testing.T) {
	var b strings.Builder
	page(&b, madeSet())
	for i := range egemaps.Schema().Len() {
		name, _ := egemaps.Schema().Feature(i)
		if strings.Count(b.String(), "| "+name+" |") != 1 {
			t.Errorf("%s is not on the page once", name)
		}
		if mark := note(name); mark != "" && !strings.Contains(remarks, "- **"+mark+"** ") {
			t.Errorf("%s has the note %s, which is not on the page", name, mark)
		}
	}
}
