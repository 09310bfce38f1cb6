package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
)

// Bayes is the Scorer of a BayesFile. It is immutable and safe for concurrent
// use.
//
// The features are standardised within sex: as the metadata has it if that is
// Female or Male, otherwise as the two possible values weighted by how
// probable each sex is given the voice. Features that were not measured, and
// those that need a fixed gain which the recording does not have, are inferred
// from the others by their correlation, and what stays unknown of them draws
// the probability towards the middle.
//
// Where the recording comes with earlier ones of the same person, the z of a
// feature becomes, with ρ its stability, z̄ its mean over the m earlier
// recordings, and b the file's Baseline,
//
//	(1 − b)·z + b·(z − ρm·z̄)/(1 − ρ·ρm),  ρm = ρ/(ρ + (1 − ρ)/m):
//
// a person's own voice predicts the next recording to ρm·z̄ with the variance
// 1 − ρ·ρm, and a change of the mean that is small beside how people differ is
// large beside that. All of it (b = 1) would hold if the earlier recordings
// were made in another state than this one; b allows for that not being known.
//
// The probability is the posterior median given what was measured. Its 90 %
// interval covers what is not known about weights and thresholds, about the
// sex, and about the features that are missing; not how the people differ who
// share a probability. The class is the highest whose cut the posterior
// probability of its scores reaches.
type Bayes struct {
	file  *BayesFile
	index []int // of each of the file's features in the schema
	sex   []int // of each of the features that tell the sexes apart
}

// NewBayes checks f and returns its scorer, which keeps f: the caller must not
// change it afterwards.
func NewBayes(f *BayesFile) (*Bayes, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	b := &Bayes{file: f, index: make([]int, len(f.Features)), sex: make([]int, len(f.Sex))}
	for i, x := range f.Features {
		b.index[i] = features.VoiceSchema().Index(x.Name)
	}
	for i, x := range f.Sex {
		b.sex[i] = features.VoiceSchema().Index(x.Name)
	}
	return b, nil
}

// Info says what the model is.
func (b *Bayes) Info() Info {
	return Info{
		Name: b.file.Name, Version: b.file.Version, Categories: []screen.Category{b.file.Category},
		Calibrated: b.file.IsCalibrated, CalibratedOn: b.file.CalibratedOn,
	}
}

// File returns what the scorer was made from. The caller must not change it.
func (b *Bayes) File() *BayesFile { return b.file }

// Score returns the one score of the recording. Whatever the features are, no
// number in it is NaN or infinite.
func (b *Bayes) Score(ctx context.Context, in *features.Recording) ([]screen.Score, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if in.Features.Schema != features.VoiceSchema() {
		return nil, fmt.Errorf("models: %s: %w", b.file.Name, errors.New("the recording has no features of schema "+features.VoiceSchema().Name()))
	}
	r := b.Row(in)
	s := b.ScoreRow(r, in.Features)
	s.Cautions = in.Cautions()
	if b.isUnfamiliar(r) {
		s.Cautions = append(s.Cautions, screen.Unfamiliar)
		slices.Sort(s.Cautions)
	}
	if s.Doubtful() {
		s.Decision = screen.Indeterminate
	}
	return []screen.Score{s}, nil
}

// ScoreRow returns the score of a row that Row made of the recording of
// features v.
func (b *Bayes) ScoreRow(r Row, v features.Vector) screen.Score {
	f := b.file
	var eta, there, all float64
	var parts []screen.Contribution
	for i, x := range f.Features {
		eta += x.Weight * r.Z[i]
		if r.Counts[i] {
			all += math.Abs(x.Weight)
		}
		if !r.Measured[i] {
			continue
		}
		there += math.Abs(x.Weight)
		if x.Weight != 0 {
			parts = append(parts, screen.Contribution{Feature: x.Name, Value: v.Values[b.index[i]], Unit: x.Unit, Logits: x.Weight * r.Z[i]})
		}
	}
	slices.SortStableFunc(parts, func(a, b screen.Contribution) int { return cmp.Compare(math.Abs(b.Logits), math.Abs(a.Logits)) })
	s := screen.Score{
		Category: f.Category, Model: f.Name, Version: f.Version, Calibrated: f.IsCalibrated,
		Coverage: 1, Contributions: parts[:min(len(parts), maxContributions)], Baseline: r.Earlier,
	}
	if all > 0 {
		s.Coverage = min(there/all, 1)
	}
	missing := b.missing(r) + b.unsexed(r)
	b.decide(&s, eta, missing, b.uncertainty(r.Z))
	return s
}

// decide fills in probability, interval, decision and class for the linear
// predictor eta, the variance of what was not measured of it, and that of η − θ2 by
// what is not known of the model.
func (b *Bayes) decide(s *screen.Score, eta, missing, unsure float64) {
	f := b.file
	// The mean of the logistic function over a normal distribution (MacKay
	// 1992, "The evidence framework applied to classification networks", eq. 10).
	draw := 1 / math.Sqrt(1+math.Pi/8*missing)
	atLeast := func(k int) float64 { return dsp.Logistic(draw * (eta - f.Thresholds[k])) }
	s.Probability = atLeast(DecisionBand)
	v, half := eta-f.Thresholds[DecisionBand], z90*math.Sqrt(missing+unsure)
	s.Low = min(dsp.Logistic(v-half), s.Probability)
	s.High = max(dsp.Logistic(v+half), s.Probability)
	switch {
	case s.Probability < f.Indeterminate.Low:
		s.Decision = screen.Negative
	case s.Probability > f.Indeterminate.High:
		s.Decision = screen.Positive
	default:
		s.Decision = screen.Indeterminate
	}
	classes := f.Category.Severities()
	s.Severity = classes[0]
	for i, c := range f.Cuts {
		if atLeast(slices.Index(BandScores[:], c.Score)) >= c.Probability {
			s.Severity = classes[i+1]
		}
	}
}

// uncertainty is the variance of η − θ2 at z by the covariance of the
// parameters.
func (b *Bayes) uncertainty(z []float64) float64 {
	n := len(z)
	at := func(i int) float64 {
		if i == n {
			return -1 // of θ2
		}
		return z[i]
	}
	var v float64
	for i := range n + 1 {
		row := b.file.Covariance[i]
		for j := range n + 1 {
			v += at(i) * row[j] * at(j)
		}
	}
	return max(v, 0)
}

// unsexed is the variance of η by not knowing the sex.
func (b *Bayes) unsexed(r Row) float64 {
	if r.Female == 0 || r.Female == 1 {
		return 0
	}
	var d float64
	for i, x := range b.file.Features {
		if r.Measured[i] {
			d += x.Weight * (r.female[i] - r.male[i])
		}
	}
	return r.Female * (1 - r.Female) * d * d
}

// missing is the variance of η by the features that were not measured, given
// the others.
func (b *Bayes) missing(r Row) float64 {
	if r.rest == nil {
		return 0
	}
	var v float64
	for i, a := range r.gaps {
		for j, c := range r.gaps {
			v += b.file.Features[a].Weight * r.rest.At(i, j) * b.file.Features[c].Weight
		}
	}
	return max(v, 0)
}

// WithBaseRate returns the model for people of whom the given share has a score of
// 10 or more: all thresholds are moved together so that the mean probability
// over people with the norms' distribution of features is that share, and the
// cuts and the band with them, so that sensitivity and specificity stay. What
// is not known about the share itself is left out of the intervals. It is an
// error if the share is not above 0 and below 1.
func (b *Bayes) WithBaseRate(share float64) (*Bayes, error) {
	if !(share > 0 && share < 1) {
		return nil, fmt.Errorf("models: base rate %v, want above 0 and below 1", share)
	}
	f := *b.file
	move := NormalThreshold(b.Spread(), share) - f.Thresholds[DecisionBand]
	f.Thresholds = slices.Clone(f.Thresholds)
	for k := range f.Thresholds {
		f.Thresholds[k] += move
	}
	moved := func(p float64) float64 { // a cut stays where it is on η
		if p <= 0 || p >= 1 {
			return p
		}
		return dsp.Logistic(logit(p) - move)
	}
	f.Cuts = slices.Clone(f.Cuts)
	for i := range f.Cuts {
		f.Cuts[i].Probability = moved(f.Cuts[i].Probability)
	}
	f.Indeterminate = Band{Low: moved(f.Indeterminate.Low), High: moved(f.Indeterminate.High)}
	f.Covariance = withoutVariance(f.Covariance, len(f.Features))
	return NewBayes(&f)
}

// WithBaseRates returns the scorer for people of whom the shares have a score of
// 10 or more: [Bayes.WithBaseRate] of a Bayes whose category is among rates. One
// that was calibrated has its base rate from labels; it, and any other scorer,
// is returned as it is. The error is that of Bayes.WithBaseRate.
func WithBaseRates(s Scorer, rates map[screen.Category]float64) (Scorer, error) {
	b, ok := s.(*Bayes)
	if !ok || b.Info().Calibrated {
		return s, nil
	}
	rate, ok := rates[b.file.Category]
	if !ok {
		return s, nil
	}
	moved, err := b.WithBaseRate(rate)
	if err != nil {
		return nil, err
	}
	return moved, nil
}

// knownShare is what stays of the standard deviation of a threshold, in
// logits, when the base rate is given. Chosen: a share of 0.10 is one between
// 0.08 and 0.12.
const knownShare = 0.2

// withoutVariance returns m with knownShare² as the variance of parameter i
// and no covariance with it, unless it was smaller.
func withoutVariance(m [][]float64, i int) [][]float64 {
	if m[i][i] <= knownShare*knownShare {
		return m
	}
	out := make([][]float64, len(m))
	for k := range m {
		out[k] = slices.Clone(m[k])
		out[k][i] = 0
	}
	clear(out[i])
	out[i][i] = knownShare * knownShare
	return out
}

// Spread is the standard deviation of the linear predictor over people with
// the norms' distribution of features.
func (b *Bayes) Spread() float64 {
	n := len(b.file.Features)
	r := mat.NewDense(n, n, nil)
	w := mat.NewVecDense(n, nil)
	for i, x := range b.file.Features {
		r.SetRow(i, b.file.Correlation[i])
		w.SetVec(i, x.Weight)
	}
	return math.Sqrt(max(mat.Inner(w, r, w), 0))
}

// NormalThreshold is the θ for which the mean of 1/(1 + exp(θ − η)) over
// η ~ N(0, sd²) is share, which is above 0 and below 1; by bisection.
func NormalThreshold(sd, share float64) float64 {
	reach := math.Abs(logit(share)) + 40*(1+sd) // beyond what any mean of logistic functions needs
	lo, hi := -reach, reach
	for range 80 { // 2⁻⁸⁰ of that is below the rounding
		mid := (lo + hi) / 2
		var mean float64
		OverNormal(sd, func(eta, w float64) { mean += w * dsp.Logistic(eta-mid) })
		if mean > share {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// OverNormal calls f with points of N(0, sd²), ascending, and their weights,
// which sum to 1: the trapezoidal rule over ±8 standard deviations, whose
// error is far below 1e-9 for smooth f.
func OverNormal(sd float64, f func(x, w float64)) {
	const step = 0.05
	for i := -160; i <= 160; i++ {
		z := float64(i) * step
		f(sd*z, step*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi))
	}
}
