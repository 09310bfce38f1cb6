package models

import "github.com/voicescreen/voicescreen/dsp"

// Given puts u and u² of each covariate into dst, whose memory it may reuse, and returns
// them: of covariates[k] with the value x(k).
func Given(dst []float64, covariates []Covariate, clip float64, x func(k int) float64) []float64 {
	dst = sized(dst, 2*len(covariates))
	for k, c := range covariates {
		dst[2*k], dst[2*k+1] = c.terms(x(k), clip)
	}
	return dst
}

// terms returns u and u² of the value x.
func (c *Covariate) terms(x, clip float64) (u, square float64) {
	if !dsp.Finite(x) {
		return 0, 0
	}
	u = min(max((x-c.Center)/c.Scale, -clip), clip)
	return u, u * u
}

// Above is how far the value x lies above what a person with the covariates u, see
// [Given], has, in the unit of the feature.
func (f *Feature) Above(x float64, u []float64) float64 {
	x -= f.Center
	for k, s := range f.Slopes {
		x -= s * u[k]
	}
	return x
}

// Z is Above in scales of the feature, at most ±clip.
func (f *Feature) Z(x float64, u []float64, clip float64) float64 {
	return min(max(f.Above(x, u)/f.Scale, -clip), clip)
}
