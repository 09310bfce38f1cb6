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
type kernelScratch struct{ pull, x []float64 }

// at returns the sum at z, and adds to each part[i] the contribution of z[i]: the
// decrease of the sum if z[i] were 0, to first order in γ,
//
//	Σⱼ cⱼ·exp(−γ|z − vⱼ|²)·γ·z[i]·(2vⱼ[i] − z[i])
func (k *Kernel) at(z, part []float64, s *kernelScratch) (sum float64) {
	n := len(z)
	s.pull, s.x = sized(s.pull, len(part)), sized(s.x, n)
	pull, x := s.pull, s.x // pull is Σ cⱼ·exp(…)·vⱼ, in steps
	clear(pull)
	for i, v := range z {
		x[i] = v / k.Step
	}
	scale := k.Gamma * k.Step * k.Step
	for j, c := range k.Coefficients {
		vector := k.Vectors[j*n : (j+1)*n]
		v := math.Exp(-scale * distance(x, vector, hasAVX2))
		sum += c * v
		if len(pull) > 0 {
			weigh(pull, vector, c*v, hasAVX2)
		}
	}
	for i := range part {
		part[i] += k.Gamma * z[i] * (2*k.Step*pull[i] - z[i]*sum)
	}
	return sum
}
