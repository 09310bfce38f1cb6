package models

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The distance is that of Mahalanobis, computed here by solving R·y = z with
// plain elimination.
func TestDistance(t *testing.T) {
	b := shippedBayes(t)
	rng := rand.New(rand.NewPCG(3, 4))
	n := len(b.file.Features)
	for range 20 {
		r := Row{alone: make([]float64, n), noise: make([]float64, n), Measured: make([]bool, n)}
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
	s, err := LoadFile("shipped/files/depression.json")
	if err != nil {
		t.Fatal(err)
	}
	return s.(*Bayes)
}
