package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestMadeHere holds every row to its goal on the signals that the program
// makes, whose settings are not those of the reference set.
func TestMadeHere(t *testing.T) {
	got := measure(makeSet())
	resamplingRows(got)
	hold(t, got)
}

// TestReference holds every row to its goal on the reference set.
func TestReference(t *testing.T) {
	s, err := readSet(referenceSet(t))
	if err != nil {
		t.Fatal(err)
	}
	got := measure(s)
	resamplingRows(got)
	hold(t, got)
	for _, r := range rows {
		if v, ok := got[r.name]; !ok || math.IsNaN(v) {
			t.Errorf("%s was not measured", r.name)
		}
	}
}

func hold(t *testing.T, got map[string]float64) {
	t.Helper()
	for _, r := range rows {
		if v := got[r.name]; v > r.goal {
			t.Errorf("%s: got %.3g %s, want at most %.3g", r.name, v, r.unit, r.goal)
		}
	}
}

// TestRowsCanFail measures signals that are not what they are said to be.
func TestRowsCanFail(t *testing.T) {
	all := makeSet()
	s := &set{clean: all.clean[:2], noisy: all.noisy[:1], hnr: all.hnr[:2], jitterVowels: all.jitterVowels[:3], vowels: all.vowels[:3]}
	for i := range s.clean {
		for k := range s.clean[i].f0 {
			s.clean[i].f0[k] *= 1.001 // 1.7 cent
		}
	}
	for i := range s.noisy {
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
	got := measure(s)
	for _, name := range []string{
		"F0, clean, largest median", "F0 at 0 dB, gross", "HNR 5–30 dB, mean error",
		"jitter, vowels, mean error", "F2, f0 ≤ 180 Hz, median error",
	} {
		for _, r := range rows {
			if r.name == name && !(got[name] > r.goal) {
				t.Errorf("%s: got %.3g of false truth, want more than %.3g", name, got[name], r.goal)
			}
		}
	}
}

// referenceSet finds the reference set beside the repository, and skips the
// test where it is absent.
func referenceSet(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for {
		set := filepath.Join(dir, "shared", "reference")
		if _, err := os.Stat(set); err == nil {
			return set
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Skip("needs the reference set in ../shared/reference beside the repository")
		}
		dir = parent
	}
}
