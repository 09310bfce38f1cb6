package fit

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	_ "embed"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/evaluate"
)

// Norms are the centre, the scale and the correlations of features of schema
// voice/1 as [models.Extract] measures them on speech of no special kind.
// Norms of other programs do not fit: perturbation measures differ two- to
// threefold between them.
type Norms struct {
	Origin      models.Data `json:"origin"`
	Features    []Norm      `json:"features"`
	Correlation [][]float64 `json:"correlation"` // of Features, in their order
}

// Norm is the distribution of one feature.
type Norm struct {
	Name   string  `json:"name"`
	N      int     `json:"n"`      // recordings in which it was measured
	Center float64 `json:"center"` // median
	Scale  float64 `json:"scale"`  // interquartile range / 1.349: the standard deviation of a normal distribution
}

//go:embed norms.json
var normsJSON []byte

// ShippedNorms returns the norms behind the shipped models.
func ShippedNorms() (*Norms, error) {
	var n Norms
	if err := json.Unmarshal(normsJSON, &n); err != nil {
		return nil, fmt.Errorf("fit: shipped norms: %w", err)
	}
	return &n, nil
}

func (n *Norms) index(feature string) int {
	return slices.IndexFunc(n.Features, func(f Norm) bool { return f.Name == feature })
}

// correlation is that of two features, both of which the norms have.
func (n *Norms) correlation(a, b string) float64 {
	return n.Correlation[n.index(a)][n.index(b)]
}

// leastNorm is how many recordings a norm needs. Chosen: the standard error of
// the median is then below a quarter of the standard deviation.
const leastNorm = 30

// shrinkage is how far the measured correlations are drawn towards none.
// Chosen as in the evidence behind the priors: 30 %, because they come from a
// hundred or so recordings.
const shrinkage = 0.3

// MeasureNorms computes the norms of the named features over vectors of
// schema voice/1, one a recording. Correlations are Spearman's over the
// recordings that have both features, drawn to 0 by 30 %. It is an error if a
// feature was measured in fewer than 30 recordings or does not vary.
func MeasureNorms(vectors []models.Vector, features []string, origin models.Data) (*Norms, error) {
	n := &Norms{Origin: origin, Correlation: make([][]float64, len(features))}
	for _, name := range features {
		x := column(vectors, name)
		x = slices.DeleteFunc(x, math.IsNaN)
		if len(x) < leastNorm {
			return nil, fmt.Errorf("fit: %s was measured in %d recordings, want %d", name, len(x), leastNorm)
		}
		slices.Sort(x)
		scale := (evaluate.Quantile(x, 0.75) - evaluate.Quantile(x, 0.25)) / 1.349
		if scale <= 0 {
			return nil, fmt.Errorf("fit: %s does not vary", name)
		}
		n.Features = append(n.Features, Norm{name, len(x), significant(evaluate.Quantile(x, 0.5)), significant(scale)})
	}
	for i, a := range features {
		n.Correlation[i] = make([]float64, len(features))
		for j, b := range features {
			n.Correlation[i][j] = 1
			if i != j {
				n.Correlation[i][j] = round((1 - shrinkage) * spearman(column(vectors, a), column(vectors, b)))
			}
		}
	}
	return n, nil
}

// significant keeps five digits.
func significant(x float64) float64 {
	if x == 0 {
		return 0
	}
	p := math.Pow(10, 4-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*p) / p
}

func column(vectors []models.Vector, name string) []float64 {
	x := make([]float64, len(vectors))
	for i, v := range vectors {
		x[i] = v.Get(name)
	}
	return x
}

// spearman is the correlation of the ranks of the pairs without NaN, 0 if
// there are fewer than three or one side is constant.
func spearman(a, b []float64) float64 {
	var x, y []float64
	for i := range a {
		if !math.IsNaN(a[i]) && !math.IsNaN(b[i]) {
			x, y = append(x, a[i]), append(y, b[i])
		}
	}
	if len(x) < 3 {
		return 0
	}
	rx, ry := ranks(x), ranks(y)
	var sxy, sxx, syy float64
	m := float64(len(x)-1) / 2 // mean of the ranks from 0 on
	for i := range rx {
		sxy += (rx[i] - m) * (ry[i] - m)
		sxx += (rx[i] - m) * (rx[i] - m)
		syy += (ry[i] - m) * (ry[i] - m)
	}
	if sxx == 0 || syy == 0 {
		return 0
	}
	return sxy / math.Sqrt(sxx*syy)
}

// ranks returns the ranks from 0 on; equal values share their mean rank.
func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case x[a] < x[b]:
			return -1
		case x[a] > x[b]:
			return 1
		}
		return 0
	})
	r := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			r[order[k]] = float64(i+j-1) / 2
		}
		i = j
	}
	return r
}
