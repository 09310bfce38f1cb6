package models

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/spoof"
	"github.com/voicescreen/voicescreen/screen"
)

// maxContributions is the greatest number of contributions of a Score. Chosen: all
// of the depression and anxiety models, and of the hundreds of the deepfake model
// the largest.
const maxContributions = 20

// z90 is the 95th percentile of the normal distribution: the half-width of
// its central 90 % in standard deviations.
const z90 = 1.6448536269514722

// Linear is the Scorer of a model File. It is safe for concurrent use. A model of
// a deepfake schema keeps the scratch memory, 3 MB each, of as many calls of Score
// as ran at the same time, of GOMAXPROCS at most.
type Linear struct {
	file   *File
	schema *features.Schema
	index  []int               // of each of the file's features in the schema
	given  []int               // of each of its covariates
	idle   chan *segmentScorer // those that no call of Score uses
}

// NewLinear checks f and returns its scorer, which keeps f: the caller must
// not change it afterwards.
func NewLinear(f *File) (*Linear, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	l := &Linear{
		file: f, schema: schemas[f.Schema], index: make([]int, len(f.Features)),
		idle: make(chan *segmentScorer, runtime.GOMAXPROCS(0)),
	}
	for i, x := range f.Features {
		l.index[i] = l.schema.Index(x.Name)
	}
	for _, x := range f.Covariates {
		l.given = append(l.given, l.schema.Index(x.Name))
	}
	return l, nil
}

// Info returns what the file says about the model.
func (l *Linear) Info() Info {
	return Info{
		Name: l.file.Name, Version: l.file.Version, Categories: []screen.Category{l.file.Category},
		Calibrated: l.file.IsCalibrated, CalibratedOn: l.file.CalibratedOn, Streams: true,
	}
}

// File returns the file of the scorer. The caller must not change it.
func (l *Linear) File() *File { return l.file }

// Score returns one score. All its numbers are finite for any features, except the
// Probability of a [screen.Segment]. A model of the deepfake schema scores every
// segment (see [spoof.SegmentBounds]) and takes the mean of their predictors; the
// others score the features of the whole recording. The error is that of ctx, or
// says that the features have another schema.
func (l *Linear) Score(ctx context.Context, in *features.Recording) ([]screen.Score, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if l.schema == spoof.Schema() {
		s, err := l.scoreSegments(ctx, in)
		return []screen.Score{s}, err
	}
	if in.Features.Schema != l.schema {
		return nil, fmt.Errorf("models: %s: the recording has no features of schema %s", l.file.Name, l.schema.Name())
	}
	return []screen.Score{l.ScoreVector(in.Features)}, nil
}

// ScoreVector returns the score of a vector, which must be of the model's
// schema; it panics if the length differs. A feature that is NaN or infinite
// counts as not measured.
//
// The interval is that of the probability whose logit has the standard error
//
//	√(logit_sd² + Σ (z·weight_sd)² + Σ′ (weight² + weight_sd²))
//
// with Σ over the measured features and Σ′ over the others, whose unknown z has the
// variance 1. With further predictors, weight here and in the contributions is what the
// logit grows by with z: the mean of the weights, each counting as its predictor does in
// the sum. It covers the uncertainty of the model, and not the differences between people
// with equal features.
func (l *Linear) ScoreVector(v features.Vector) screen.Score {
	var w workspace
	var p prediction
	l.predict(&p, v, &w)
	return l.finish(&p, &w)
}

// A workspace is the scratch memory of predict and finish.
type workspace struct {
	u     []float64 // of the covariates, and their squares
	parts []screen.Contribution
}

// prediction is the output of a model for one vector, or its mean over several.
type prediction struct {
	eta, variance float64 // before the calibration
	coverage      float64
	outside       float64   // share of the measured features outside their ranges; see File.Outside
	value         []float64 // of each of the file's features, NaN if not measured
	z             []float64 // of each of them, 0 if not measured
	deviation     []float64 // of each, in standard deviations of the training recordings
	part          []float64 // contribution of each to eta
	weight        []float64 // of each: what eta grows by with z
}

// predict sets p to what the model says of v. It reuses the memory of p.
func (l *Linear) predict(p *prediction, v features.Vector, w *workspace) {
	if len(v.Values) != l.schema.Len() {
		panic(fmt.Sprintf("models: vector of %d features, want %d", len(v.Values), l.schema.Len()))
	}
	f := l.file
	n := len(f.Features)
	w.u = Given(w.u, f.Covariates, f.Clip, func(k int) float64 { return v.Values[l.given[k]] })
	p.z, p.value, p.deviation = sized(p.z, n), sized(p.value, n), sized(p.deviation, n)
	clear(p.z)
	clear(p.deviation)
	p.eta = f.Intercept
	var measured float64
	p.outside = 0
	for i, x := range f.Features {
		p.value[i] = v.Values[l.index[i]]
		if !dsp.Finite(p.value[i]) {
			p.value[i] = math.NaN()
			continue
		}
		p.z[i] = x.Z(p.value[i], w.u, f.Clip)
		p.deviation[i] = x.Above(p.value[i], w.u) / x.spread()
		p.eta += p.z[i] * x.Weight
		measured++
		if p.value[i] < x.Low || p.value[i] > x.High {
			p.outside++
		}
	}
	p.outside /= max(measured, 1)
	l.add(p)
	l.weigh(p)
}

// add adds the further predictors to p and sets the weights.
func (l *Linear) add(p *prediction) {
	p.weight = sized(p.weight, len(p.z))
	for i, x := range l.file.Features {
		p.weight[i] = x.Weight
	}
	for k, o := range l.file.Others {
		eta := o.Intercept
		for i := range p.z {
			eta += p.z[i] * l.file.Features[i].Others[k]
		}
		share := dsp.Logistic(eta - p.eta) // of the sum up to here
		for i := range p.weight {
			p.weight[i] += share * (l.file.Features[i].Others[k] - p.weight[i])
		}
		p.eta = dsp.LogAdd(p.eta, eta)
	}
}

// weigh sets what the features contribute to p.
func (l *Linear) weigh(p *prediction) {
	f := l.file
	p.part = sized(p.part, len(f.Features))
	p.variance, p.coverage = f.LogitSD*f.LogitSD, 1
	var there, all float64
	for i, x := range f.Features {
		weight := p.weight[i]
		p.part[i] = p.z[i] * weight
		all += math.Abs(weight)
		if math.IsNaN(p.value[i]) {
			p.variance += weight*weight + x.WeightSD*x.WeightSD
			continue
		}
		p.variance += p.z[i] * x.WeightSD * p.z[i] * x.WeightSD
		there += math.Abs(weight)
	}
	if all > 0 {
		p.coverage = min(there/all, 1)
	}
}

// spread is the standard deviation of the feature over the training recordings: that of a
// normal distribution of which the lowest and the highest half percent lie outside Low and
// High. Scale may be less, where the trainer gave the feature more weight. It is Scale
// where there is no range.
func (f *Feature) spread() float64 {
	if f.Low < f.High {
		return (f.High - f.Low) / (2 * z99)
	}
	return f.Scale
}

// z99 is the 99.5th percentile of the normal distribution.
const z99 = 2.5758293035489

// weighs says whether a predictor has the feature.
func (f *Feature) weighs() bool {
	return f.Weight != 0 || slices.ContainsFunc(f.Others, func(w float64) bool { return w != 0 })
}

// sized returns n elements, in the memory of s if it has that many. Their values
// are undefined.
func sized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// finish returns the score of a prediction. It shares no memory with p and w.
func (l *Linear) finish(p *prediction, w *workspace) screen.Score {
	f := l.file
	parts := w.parts[:0]
	factor := 1.0
	if f.Calibration != nil {
		factor = f.Calibration.A
	}
	for i, x := range f.Features {
		if dsp.Finite(p.value[i]) && x.weighs() {
			parts = append(parts, screen.Contribution{Feature: x.Name, Value: p.value[i], Unit: x.Unit, Logits: factor * p.part[i], Deviation: screen.SD(p.deviation[i])})
		}
	}
	slices.SortStableFunc(parts, func(a, b screen.Contribution) int { return cmp.Compare(math.Abs(b.Logits), math.Abs(a.Logits)) })
	w.parts = parts
	s := screen.Score{
		Category: f.Category, Model: f.Name, Version: f.Version, Calibrated: f.IsCalibrated, Prior: f.Prior,
		Coverage: p.coverage, Contributions: append([]screen.Contribution(nil), parts[:min(len(parts), maxContributions)]...),
	}
	l.decide(&s, p.eta, z90*math.Sqrt(p.variance))
	return s
}

// decide sets probability, interval, decision and class for the predictor eta and
// the half-width of its interval. A class begins at its cut, or where its
// probability is one half if that is lower.
func (l *Linear) decide(s *screen.Score, eta, half float64) {
	f := l.file
	low, high := eta-half, eta+half
	if c := f.Calibration; c != nil {
		low, eta, high = c.Of(low), c.Of(eta), c.Of(high)
	}
	shift := 0.0
	if f.Link.Kind == Ordinal {
		shift = f.Link.Thresholds[f.Link.Decision-1]
		class := 0
		for k, cut := range f.Link.Cuts {
			if eta >= min(cut, f.Link.Thresholds[k]) { // at a threshold the probability is one half
				class++
			}
		}
		s.Severity = f.Category.Severities()[class]
	}
	s.Probability = dsp.Logistic(eta - shift)
	s.Low, s.High = dsp.Logistic(low-shift), dsp.Logistic(high-shift)
	s.Decide(f.Indeterminate.Of(f.Category))
}
