package models

import (
	"fmt"
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

// Kernel is the nonlinear part of a predictor. It adds
//
//	Σⱼ cⱼ·exp(−γ|z − vⱼ|²)
//
// over the support vectors vⱼ. z holds all features of the file in their order, and
// 0 for a feature that was not measured.
type Kernel struct {
	Gamma float64 `json:"gamma"` // > 0

	// Step is the z of one unit of a byte of Vectors, > 0.
	Step float64 `json:"step"`

	// Vectors holds the support vectors one after another, a signed byte a
	// feature, in units of Step. In JSON it is base64.
	Vectors []byte `json:"vectors"`

	// Coefficients are c, in logits, one for each vector.
	Coefficients []float64 `json:"coefficients"`
}

// check verifies a kernel over n features.
func (k *Kernel) check(n int) error {
	switch {
	case !dsp.Finite(k.Gamma) || k.Gamma <= 0:
		return &FileError{"kernel.gamma", "want a finite number > 0"}
	case !dsp.Finite(k.Step) || k.Step <= 0:
		return &FileError{"kernel.step", "want a finite number > 0"}
	case len(k.Coefficients) == 0:
		return &FileError{"kernel.coefficients", "are empty"}
	case len(k.Vectors) != n*len(k.Coefficients):
		return &FileError{"kernel.vectors", fmt.Sprintf("got %d bytes, want %d for %d vectors of %d features",
			len(k.Vectors), n*len(k.Coefficients), len(k.Coefficients), n)}
	}
	for i, c := range k.Coefficients {
		if !dsp.Finite(c) {
			return &FileError{fmt.Sprintf("kernel.coefficients[%d]", i), "is not finite"}
		}
	}
	return nil
}

// At returns the sum at z, which has one value for each feature of the file.
func (k *Kernel) At(z []float64) float64 {
	return k.at(z, nil, &kernelScratch{})
}

// kernelScratch is the scratch memory of at.
type kernelScratch struct {
	pull            []float64
	high, low       []int16 // z, in steps
	sumHigh, sumLow []int32
}

// at returns the sum at z, and adds to each part[i] the contribution of z[i]: the
// decrease of the sum if z[i] were 0, to first order in γ,
//
//	Σⱼ cⱼ·exp(−γ|z − vⱼ|²)·γ·z[i]·(2vⱼ[i] − z[i])
//
// z is rounded to 2⁻²⁹ of its largest magnitude.
func (k *Kernel) at(z, part []float64, s *kernelScratch) (sum float64) {
	n := len(z)
	unit, square := k.fix(z, s)
	s.pull = sized(s.pull, len(part)) // Σ cⱼ·exp(…)·vⱼ, in steps
	clear(s.pull)
	s.sumHigh, s.sumLow = sized(s.sumHigh, len(part)), sized(s.sumLow, len(part))
	clear(s.sumHigh)
	clear(s.sumLow)
	var largest float64
	for _, c := range k.Coefficients {
		largest = max(largest, math.Abs(c))
	}
	weightUnit := fixedUnit(largest)
	scale := k.Gamma * k.Step * k.Step
	var w [4]int16 // of two vectors
	for j, c := range k.Coefficients {
		vector := k.Vectors[j*n : (j+1)*n]
		dot, length := products(s.high, s.low, vector, hasAVX2)
		v := c * math.Exp(-scale*(square-2*unit*float64(dot)+float64(length)))
		sum += v
		if len(part) == 0 {
			continue
		}
		w[j%2], w[2+j%2] = fixed(v, 1/weightUnit)
		switch last := j == len(k.Coefficients)-1; {
		case j%2 == 1:
			weigh(s.sumHigh, s.sumLow, k.Vectors[(j-1)*n:j*n], vector, &w, hasAVX2)
		case last:
			w[1], w[3] = 0, 0
			weigh(s.sumHigh, s.sumLow, vector, vector, &w, hasAVX2)
		}
		if (j+1)%fixedSums == 0 || j == len(k.Coefficients)-1 {
			for i := range s.pull {
				s.pull[i] += weightUnit * float64(int64(s.sumHigh[i])<<fixedPart+int64(s.sumLow[i]))
			}
			clear(s.sumHigh)
			clear(s.sumLow)
		}
	}
	for i := range part {
		part[i] += k.Gamma * z[i] * (2*k.Step*s.pull[i] - z[i]*sum)
	}
	return sum
}

// mostSteps bounds z, in steps. Chosen: so far away every kernel is 0.
const mostSteps = 1e200

// fix sets high and low to z in steps, and returns their unit and Σ z², which is NaN if a z
// is.
func (k *Kernel) fix(z []float64, s *kernelScratch) (unit, square float64) {
	s.high, s.low = sized(s.high, len(z)), sized(s.low, len(z))
	var largest float64
	for _, v := range z {
		largest = max(largest, math.Abs(v/k.Step))
	}
	if math.IsNaN(largest) {
		return 1, largest
	}
	unit = fixedUnit(min(largest, mostSteps))
	for i, v := range z {
		s.high[i], s.low[i] = fixed(min(max(v/k.Step, -mostSteps), mostSteps), 1/unit)
		x := unit * float64(int32(s.high[i])<<fixedPart+int32(s.low[i]))
		square += x * x
	}
	return unit, square
}
