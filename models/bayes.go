package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
)

// Bayes is the Scorer of a BayesFile. It always gives the same scores, and is safe for
// concurrent use.
//
// The features are standardised within sex and way of speaking. The sex is that of
// the metadata if it is Female or Male, the way of speaking that of the recording if
// it is given; otherwise the standardised values are weighted by the probability of
// each sex and each way given the voice, and the differences between them widen the
// interval. A feature has a sampling error that falls with the duration of speech, and
// is drawn towards the mean that the others predict the more, the greater its error
// is. Features that were not measured, and features that need a fixed gain in a
// recording without one, are inferred from the others by their correlation. The
// remaining variance moves the probability towards 0.5.
//
// If there are earlier recordings of the same person, the z of a feature becomes,
// with its stability ρ, its mean z̄ over the m earlier recordings, and the file's
// Baseline b,
//
//	(1 − b)·z + b·(z − ρm·z̄)/(1 − ρ·ρm),  ρm = ρ/(ρ + (1 − ρ)/m):
//
// The person's earlier recordings predict the next one as ρm·z̄ with the variance
// 1 − ρ·ρm, which is smaller than the variance between people. b = 1 would be
// right if the person's state differed from that of the earlier recordings; b < 1
// allows for an unknown state.
//
// The probability is the posterior median given the measured features. Its 90 %
// interval covers the uncertainty of weights, thresholds, sex and missing
// features. It does not cover differences between people with equal features. The
// class is the highest that the recording reaches with all classes below it. It
// reaches a class if its posterior probability is at least the cut, or one half if
// that is lower. Prior is the share of people with a questionnaire score of 10 or
// more, if they have the norms' distribution of features; it is 0, unknown, for a
// model that learned from labels.
type Bayes struct {
	file  *BayesFile
	sex   []int   // of each of the file's Sex features in the schema
	ways  []int   // of each of Speech.By in the file's features
	share float64 // Prior of its scores

	last atomic.Pointer[observation] // of the row before
}

// NewBayes checks f and returns its scorer, which keeps f: the caller must not
// change it afterwards.
func NewBayes(f *BayesFile) (*Bayes, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	b := &Bayes{file: f, sex: make([]int, len(f.Sex)), ways: make([]int, len(f.Speech.By))}
	for i, x := range f.Sex {
		b.sex[i] = features.VoiceSchema().Index(x.Name)
	}
	for i, name := range f.Speech.By {
		b.ways[i] = slices.IndexFunc(f.Features, func(x BayesFeature) bool { return x.Name == name })
	}
	if f.Labels == nil { // else the people are those of the labels, who need not have the norms' features
		OverNormal(b.Spread(), func(eta, w float64) { b.share += w * dsp.Logistic(eta-f.Thresholds[DecisionBand]) })
	}
	if !(b.share > 0 && b.share < 1) { // beyond what numbers can hold
		b.share = 0
	}
	return b, nil
}

// Info returns what the file says about the model.
func (b *Bayes) Info() Info {
	return Info{
		Name: b.file.Name, Version: b.file.Version, Categories: []screen.Category{b.file.Category},
		Calibrated: b.file.IsCalibrated, CalibratedOn: b.file.CalibratedOn, Streams: true,
	}
}

// File returns the file of the scorer. The caller must not change it.
func (b *Bayes) File() *BayesFile { return b.file }

// Score returns one score. All its numbers are finite, for any features. The error
// is that of ctx, or says that the features have another schema than voice/1.
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
	}
	if in.Features.Get("speech.duration_s") < screen.RecommendedSpeech[0] { // not if it is NaN
		s.Cautions = append(s.Cautions, screen.ShortSpeech)
	}
	slices.Sort(s.Cautions)
	s.Decide(s.Band) // again: the cautions count
	return []screen.Score{s}, nil
}

// ScoreRow returns the score of a row, which Row made from the features v. It has
// no cautions.
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
			parts = append(parts, screen.Contribution{Feature: x.Name, Value: x.measure(v), Unit: x.Unit, Logits: x.Weight * r.Z[i], Deviation: screen.SD(r.Z[i])})
		}
	}
	slices.SortStableFunc(parts, func(a, b screen.Contribution) int { return cmp.Compare(math.Abs(b.Logits), math.Abs(a.Logits)) })
	s := screen.Score{
		Category: f.Category, Model: f.Name, Version: f.Version, Calibrated: f.IsCalibrated, Prior: b.share,
		Coverage: 1, Contributions: parts[:min(len(parts), maxContributions)], Baseline: r.Earlier,
	}
	if all > 0 {
		s.Coverage = min(there/all, 1)
	}
	missing := b.missing(r) + b.between(r)
	b.decide(&s, eta, missing, b.uncertainty(r))
	return s
}

// decide sets probability, interval, decision and class for the linear predictor
// eta. missing is the variance of eta from features that were not measured or on
// little speech, and from the sex and the way of speaking; unsure the variance of η − θ2 from the parameters.
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
	s.Decide(f.Indeterminate.Of(f.Category))
	classes := f.Category.Severities()
	s.Severity = classes[0]
	for i, c := range f.Cuts {
		if atLeast(slices.Index(BandScores[:], c.Score)) < min(c.Probability, screen.Half) {
			break
		}
		s.Severity = classes[i+1]
	}
}

// uncertainty returns the variance of η − θ2 from the covariance Σ of the parameters:
// z'Σz, and over z of the covariance C around its mean also the trace of ΣC.
func (b *Bayes) uncertainty(r Row) float64 {
	n := len(r.Z)
	at := func(i int) float64 {
		if i == n {
			return -1 // of θ2
		}
		return r.Z[i]
	}
	var v float64
	for i := range n + 1 {
		row := b.file.Covariance[i]
		for j := range n + 1 {
			v += at(i) * row[j] * at(j)
			if r.rest != nil && i < n && j < n {
				v += row[j] * r.rest.At(i, j)
			}
		}
	}
	return max(v, 0)
}

// between returns the variance of η from an unknown sex or way of speaking: that of
// its means by the norms that the recording may belong to.
func (b *Bayes) between(r Row) float64 {
	if len(r.norms) < 2 {
		return 0
	}
	var v float64
	for _, u := range r.norms {
		var d float64
		for i := range b.file.Features {
			d += b.file.Features[i].Weight * (u.z[i] - r.Z[i])
		}
		v += u.share * d * d
	}
	return v
}

// missing returns the variance of η from the features that were not measured, or on
// little speech, given the others.
func (b *Bayes) missing(r Row) float64 {
	if r.rest == nil {
		return 0
	}
	var v float64
	for i := range b.file.Features {
		for j := range b.file.Features {
			v += b.file.Features[i].Weight * r.rest.At(i, j) * b.file.Features[j].Weight
		}
	}
	return max(v, 0)
}

// WithBaseRate returns the model for a population in which share of the people
// have a questionnaire score of 10 or more. It moves all thresholds by one value, so
// that the mean probability over people with the norms' distribution of features is
// share. Cuts and band move too, which keeps sensitivity and specificity, but none
// moves above one half (see [screen.Half]). The intervals leave out the uncertainty
// of the share itself. A share that is not above 0 and below 1 is an error.
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
	moved := func(p float64) float64 { // a cut keeps its place on η
		if p <= 0 || p >= 1 {
			return p
		}
		return min(dsp.Logistic(logit(p)-move), screen.Half)
	}
	f.Cuts = slices.Clone(f.Cuts)
	for i := range f.Cuts {
		f.Cuts[i].Probability = moved(f.Cuts[i].Probability)
	}
	f.Indeterminate = Band{Low: moved(f.Indeterminate.Low), High: moved(f.Indeterminate.High)}
	f.Covariance = withoutVariance(f.Covariance, len(f.Features))
	return NewBayes(&f)
}

// Undecided returns the model with the decision about every recording left open
// (see [screen.Open]). Probabilities and classes stay.
func (b *Bayes) Undecided() (*Bayes, error) {
	f := *b.file
	f.Indeterminate = screen.Open
	return NewBayes(&f)
}

// WithBaseRates returns [Bayes.WithBaseRate] of a Bayes whose category is among
// rates, the shares of people with a questionnaire score of 10 or more. It returns
// any other scorer unchanged, and a calibrated Bayes too, whose base rate comes from
// labels. The error is that of Bayes.WithBaseRate.
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

// knownShare is the standard deviation of a threshold, in logits, with a given base
// rate. Chosen: a share of 0.10 then means 0.08 to 0.12.
const knownShare = 0.2

// withoutVariance returns the covariance m with the variance knownShare² and no
// covariances for parameter i, or m if that variance is smaller already.
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

// Spread returns the standard deviation of the linear predictor over people with
// the norms' distribution of features, in logits.
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

// NormalThreshold returns the θ for which the mean of 1/(1 + exp(θ − η)) over
// η ~ N(0, sd²) is share, by bisection. share must be above 0 and below 1.
func NormalThreshold(sd, share float64) float64 {
	reach := math.Abs(logit(share)) + 40*(1+sd) // beyond every solution
	lo, hi := -reach, reach
	for range 80 { // an interval of 2⁻⁸⁰ times that is below rounding
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

// OverNormal integrates over N(0, sd²): it calls f with ascending points and their
// weights, which sum to 1. This is the trapezoidal rule over ±8 standard deviations,
// with an error far below 1e-9 for smooth f.
func OverNormal(sd float64, f func(x, w float64)) {
	for _, p := range normalPoints() {
		f(sd*p.z, p.weight)
	}
}

// normalPoint is a point of OverNormal in standard deviations.
type normalPoint struct{ z, weight float64 }

var normalPoints = sync.OnceValue(func() (points []normalPoint) {
	const step = 0.05
	for i := -160; i <= 160; i++ {
		z := float64(i) * step
		points = append(points, normalPoint{z, step * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)})
	}
	return points
})
