package learn

import (
	"cmp"
	"math"
	"slices"
)

// weighted is values that have weights; a value may be infinite.
type weighted struct {
	x, w []float64
}

// add adds a value.
func (s *weighted) add(x, w float64) { s.x, s.w = append(s.x, x), append(s.w, w) }

// people returns the sum of the weights.
func (s *weighted) people() float64 {
	var n float64
	for _, w := range s.w {
		n += w
	}
	return n
}

// location is what a sample says about the mean and the standard deviation of a
// normal distribution.
type location struct {
	mean, sd float64
	people   float64 // sum of the weights
}

const (
	// huberK is where Huber's ψ begins to hold a value back, in standard
	// deviations. Chosen as usual: 96 % of the efficiency of the mean for normal
	// values (Huber 1981, exhibit 4.2.1), and room for about a quarter of outliers.
	huberK = 1.5

	// meanVariance and scaleVariance are the variances of the mean, in squared
	// standard deviations, and of the logarithm of the standard deviation, both
	// times the number of people, for normal values (measured: TestHuberVariance).
	meanVariance  = 1.04
	scaleVariance = 0.69

	huberSteps = 200
	huberDone  = 1e-10 // of a change, in the unit of the values
)

// huberBeta is E min(Z², k²) of a standard normal Z for k = huberK: it makes the
// standard deviation that of a normal distribution.
var huberBeta = func() float64 {
	const k = huberK
	tail := math.Erfc(k/math.Sqrt2) / 2
	density := math.Exp(-k*k/2) / math.Sqrt(2*math.Pi)
	return 1 - 2*tail - 2*k*density + 2*k*k*tail
}()

// huber returns Huber's simultaneous M-estimates of mean and standard deviation
// ("proposal 2": Huber 1981, Robust Statistics, section 6.4), with weights w:
//
//	Σ w·ψ((x − μ)/σ) = 0,  Σ w·ψ²((x − μ)/σ) = β·(Σ w − 1),  ψ(u) = min(max(u, −k), k),
//
// by repeated winsorising, which begins with the median and the median of the
// absolute deviations from it. The standard deviation is not below least. It is NaN
// where the weights sum to less than 2, and the mean is NaN without any value. One
// value of weight w among others moves the mean by no more than about
// k·σ·w/Σw, however far out it is.
func huber(s weighted, least float64) location {
	out := location{mean: math.NaN(), sd: math.NaN(), people: s.people()}
	if !(out.people > 0) {
		return out
	}
	mean := weightedMedian(s.x, s.w)
	off := make([]float64, len(s.x))
	for i, x := range s.x {
		off[i] = math.Abs(x - mean)
	}
	const madToSD = 1.4826 // 1/Φ⁻¹(3/4)
	sd := max(madToSD*weightedMedian(off, s.w), least)
	if math.IsInf(mean, 0) || math.IsInf(sd, 0) {
		return location{mean: math.NaN(), sd: math.NaN()} // most values are infinite
	}
	free := max(out.people-1, 0.5*out.people)
	for range huberSteps {
		low, high := mean-huberK*sd, mean+huberK*sd
		var sum, square float64
		for i, x := range s.x {
			sum += s.w[i] * min(max(x, low), high)
		}
		next := sum / out.people
		for i, x := range s.x {
			d := min(max(x, low), high) - next
			square += s.w[i] * d * d
		}
		was, wasSD := mean, sd
		mean, sd = next, max(math.Sqrt(square/(huberBeta*free)), least)
		if math.Abs(mean-was)+math.Abs(sd-wasSD) < huberDone {
			break
		}
	}
	out.mean = mean
	if out.people >= 2 {
		out.sd = sd
	}
	return out
}

// weightedMedian returns the value at which the weights of the values up to it reach
// half of all; the mean of it and the next where they are half exactly. x must not be
// empty.
func weightedMedian(x, w []float64) float64 {
	order := make([]int, len(x))
	var total float64
	for i := range order {
		order[i] = i
		total += w[i]
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	var below float64
	for k, i := range order {
		below += w[i]
		switch {
		case below > total/2:
			return x[i]
		case below == total/2 && k+1 < len(order):
			return (x[i] + x[order[k+1]]) / 2
		}
	}
	return x[order[len(order)-1]]
}
