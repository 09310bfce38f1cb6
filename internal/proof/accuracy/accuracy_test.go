package main

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// madeHere is the set of signals that the program makes. No test changes it.
var madeHere = sync.OnceValue(makeSet)

// TestMadeHere compares every row with its goal on the signals that the program makes.
// Their settings differ from those of the reference set.
func TestMadeHere(t *testing.T) {
	got := measure(madeHere())
	resamplingRows(got)
	wantGoals(t, got)
	for _, r := range rows {
		v, ok := got[r.name]
		if onlyFiles := slices.ContainsFunc(notMade, func(part string) bool { return strings.Contains(r.name, part) }); ok && math.IsNaN(v) != onlyFiles {
			t.Errorf("%s: got %v, want a number unless it needs files", r.name, v)
		} else if !ok {
			t.Errorf("%s was not measured", r.name)
		}
	}
}

// notMade are parts of the names of the rows that need recordings or values of the
// reference set.
var notMade = []string{"resynthesised", "the same at 5 dB", "recorded speech", "MFCC"}

// TestFixtures compares the rows with their goals on the recordings of dsp/testdata, a
// part of the reference set. The command measures the whole set.
func TestFixtures(t *testing.T) {
	s := new(set)
	if err := s.readSynthetic(filepath.Join("..", "..", "..", "dsp", "testdata")); err != nil {
		t.Fatal(err)
	}
	got := measure(s)
	wantGoals(t, got)
	for _, name := range []string{"F0 at 0 dB, median", "F0 at 0 dB, missed", "F1, f0 ≤ 180 Hz, median error"} {
		if math.IsNaN(got[name]) {
			t.Errorf("%s was not measured", name)
		}
	}
}

// wantGoals fails the test for every figure that misses its goal.
func wantGoals(t *testing.T, got map[string]float64) {
	t.Helper()
	for _, r := range rows {
		if v, ok := got[r.name]; ok && v > r.goal {
			t.Errorf("%s: got %.3g %s, want at most %.3g", r.name, v, r.unit, r.goal)
		}
	}
}

// TestRowsCanFail measures signals with false truths: the rows must miss their goals.
func TestRowsCanFail(t *testing.T) {
	all := madeHere()
	s := &set{
		clean: slices.Clone(all.clean[:2]), noisy: slices.Clone(all.noisy[:1]), hnr: slices.Clone(all.hnr[:2]),
		jitterVowels: slices.Clone(all.jitterVowels[:3]), vowels: slices.Clone(all.vowels[:3]),
	}
	for i := range s.clean {
		s.clean[i].f0 = slices.Clone(s.clean[i].f0)
		for k := range s.clean[i].f0 {
			s.clean[i].f0[k] *= 1.001 // 1.7 cent
		}
	}
	for i := range s.noisy {
		s.noisy[i].f0 = slices.Clone(s.noisy[i].f0)
		for k := range s.noisy[i].f0 {
			s.noisy[i].f0[k] *= 2
		}
	}
	for i := range s.hnr {
		s.hnr[i].db += 0.3
	}
	for i := range s.jitterVowels {
		s.jitterVowels[i].truth.JitterLocal *= 1.1
	}
	for i := range s.vowels {
		s.vowels[i].formants[1] *= 1.002
	}
	for i, p := range all.cpps[:8] {
		p.praat = float64(-i % 3)
		s.cpps = append(s.cpps, p)
	}
	two := slices.Concat(all.vowels[0].x, all.vowels[2].x) // /a/ and /i/
	s.spoken = []spoken{{two, 0.5, 400}}
	got := measure(s)
	for _, name := range []string{
		"F0, clean, largest median", "F0 at 0 dB, gross", "HNR 5–30 dB, mean error",
		"jitter, vowels, mean error", "F2, f0 ≤ 180 Hz, median error", "CPPS, 1 − rank correlation with Praat",
		"F1 of recorded speech against Praat", "F1 of recorded speech, spread", "syllables of recorded speech, most added",
	} {
		for _, r := range rows {
			if r.name == name && !(got[name] > r.goal) {
				t.Errorf("%s: got %.3g for a false truth, want more than %.3g", name, got[name], r.goal)
			}
		}
	}
}

// TestRowsThatWereNotMeasuredAreNotMissed uses a negative goal, which 0 would miss.
func TestRowsThatWereNotMeasuredAreNotMissed(t *testing.T) {
	r := row{name: "a level", goal: -120}
	for name, c := range map[string]struct {
		got  map[string]float64
		want bool
	}{
		"not measured": {map[string]float64{}, false},
		"undefined":    {map[string]float64{"a level": math.NaN()}, false},
		"met":          {map[string]float64{"a level": -141}, false},
		"missed":       {map[string]float64{"a level": -100}, true},
	} {
		if got := r.missed(c.got); got != c.want {
			t.Errorf("%s: got missed %v, want %v", name, got, c.want)
		}
	}
}
