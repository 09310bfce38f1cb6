package models

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
)

// turnsOf is an analysis of turns of a second each, with pauses between, of the
// given pitches in Hz; intonation moves by some semitones within a turn.
func turnsOf(pitches ...float64) *dsp.Analysis {
	rng := rand.New(rand.NewPCG(1, 2))
	a := &dsp.Analysis{}
	for k, hz := range pitches {
		start := 1.5 * float64(k)
		a.Speech = append(a.Speech, dsp.Segment{Start: start, End: start + 1})
		for i := range 150 {
			f := 0.0
			if i < 100 && i%10 != 9 {
				f = hz * math.Exp2((2*math.Sin(float64(i)/15)+0.5*rng.NormFloat64())/12)
			}
			a.F0 = append(a.F0, f)
		}
	}
	a.Duration = 1.5 * float64(len(pitches))
	return a
}

func TestSeveralVoices(t *testing.T) {
	for name, c := range map[string]struct {
		a    *dsp.Analysis
		want bool
	}{
		"one voice":                    {turnsOf(120, 118, 125, 116, 122, 119), false},
		"one lively voice":             {turnsOf(200, 230, 190, 215, 240, 195), false},
		"a man and a woman":            {turnsOf(115, 205, 118, 210, 112, 200), true},
		"a man, and a woman's remark":  {turnsOf(115, 118, 112, 220, 116, 119, 113, 117), true},
		"two men of nearly one pitch":  {turnsOf(115, 128, 113, 126, 116, 127), false},
		"too few turns to tell":        {turnsOf(115, 205, 118), false},
		"nobody":                       {&dsp.Analysis{}, false},
		"turns without a voiced frame": {&dsp.Analysis{Speech: make([]dsp.Segment, 9), F0: make([]float64, 500)}, false},
	} {
		if got := severalVoices(c.a); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// The distance is that of Mahalanobis, computed here by solving R·y = z with
// plain elimination.
func TestDistance(t *testing.T) {
	b := shippedBayes(t)
	rng := rand.New(rand.NewPCG(3, 4))
	n := len(b.file.Features)
	for range 20 {
		r := Row{alone: make([]float64, n), Measured: make([]bool, n)}
		var have []int
		for i := range n {
			r.alone[i] = rng.NormFloat64()
			if r.Measured[i] = rng.Float64() < 0.8; r.Measured[i] {
				have = append(have, i)
			}
		}
		m := make([][]float64, len(have)) // R of the measured, and z behind it
		for i, p := range have {
			for _, q := range have {
				m[i] = append(m[i], b.file.Correlation[p][q])
			}
			m[i] = append(m[i], r.alone[p])
		}
		for k := range m {
			for i := range m {
				if i == k {
					continue
				}
				f := m[i][k] / m[k][k]
				for j := range m[i] {
					m[i][j] -= f * m[k][j]
				}
			}
		}
		want := 0.0
		for i, p := range have {
			want += r.alone[p] * m[i][len(have)] / m[i][i]
		}
		want = math.Sqrt(want / float64(len(have)))
		if got, k := b.distance(r); k != len(have) || math.Abs(got-want) > 1e-9*want {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	if got, _ := b.distance(Row{Measured: make([]bool, n)}); got != 0 {
		t.Errorf("got %v of nothing measured, want 0", got)
	}
}

func shippedBayes(t *testing.T) *Bayes {
	t.Helper()
	s, err := LoadFile("files/depression.json")
	if err != nil {
		t.Fatal(err)
	}
	return s.(*Bayes)
}
