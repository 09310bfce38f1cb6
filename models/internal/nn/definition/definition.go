// Package definition has the layers of transformers by their definition, slowly and in
// float64, for tests to compare networks with. Rows are the frames of a sequence.
package definition

import "math"

// epsilon is what LayerNorm of PyTorch adds to the variance.
const epsilon = 1e-5

// Rows are vectors of equal length.
type Rows = [][]float64

// Each replaces each number v of x by f(v), and returns x.
func Each(x Rows, f func(float64) float64) Rows {
	for _, row := range x {
		for i, v := range row {
			row[i] = f(v)
		}
	}
	return x
}

// GELU is v·Φ(v) (Hendrycks and Gimpel 2016, section 2).
func GELU(v float64) float64 { return v / 2 * (1 + math.Erf(v/math.Sqrt2)) }

// Add returns x + y.
func Add(x, y Rows) Rows {
	z := make(Rows, len(x))
	for t := range x {
		z[t] = make([]float64, len(x[t]))
		for i, v := range x[t] {
			z[t][i] = v + y[t][i]
		}
	}
	return z
}

// Linear multiplies the rows of x with the weight, whose rows are those of the outputs, and
// adds the bias, unless it is nil.
func Linear(x Rows, weight, bias []float32) Rows {
	y := make(Rows, len(x))
	for t, row := range x {
		y[t] = make([]float64, len(weight)/len(row))
		for o := range y[t] {
			if bias != nil {
				y[t][o] = float64(bias[o])
			}
			for i, v := range row {
				y[t][o] += float64(weight[o*len(row)+i]) * v
			}
		}
	}
	return y
}

// Norm normalises x over its numbers, and scales and shifts number i with weight[at(i)] and
// bias[at(i)] (Ba et al. 2016, eq. 4).
func Norm(x []float64, weight, bias []float32, at func(i int) int) []float64 {
	mean, variance := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x))
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = (v-mean)/math.Sqrt(variance+epsilon)*float64(weight[at(i)]) + float64(bias[at(i)])
	}
	return y
}

// LayerNorm is Norm of each row, with a weight and a bias for each of its numbers.
func LayerNorm(x Rows, weight, bias []float32) Rows {
	y := make(Rows, len(x))
	for t, row := range x {
		y[t] = Norm(row, weight, bias, func(i int) int { return i })
	}
	return y
}

// Attention is the attention of queries q to keys k with the values v, by each of several
// heads (Vaswani et al. 2017, eq. 1).
func Attention(q, k, v Rows, heads int) Rows {
	y := make(Rows, len(q))
	for t := range q {
		width := len(q[t])
		size := width / heads
		y[t] = make([]float64, width)
		for from := 0; from < width; from += size {
			total := 0.0
			for u := range k {
				score := 0.0
				for i := from; i < from+size; i++ {
					score += q[t][i] * k[u][i] / math.Sqrt(float64(size))
				}
				p := math.Exp(score)
				total += p
				for i := from; i < from+size; i++ {
					y[t][i] += p * v[u][i]
				}
			}
			for i := from; i < from+size; i++ {
				y[t][i] /= total
			}
		}
	}
	return y
}
