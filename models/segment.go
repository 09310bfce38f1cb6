package models

import (
	"context"
	"math"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/spoof"
	"github.com/voicescreen/voicescreen/screen"
)

// leastCoverage is how much of the model's weight must be measured in a segment
// for it to have a score. Chosen: without pitch, in a segment without speech,
// it is less.
const leastCoverage = 0.5

// scoreSegments scores the recording segment by segment.
func (l *Linear) scoreSegments(ctx context.Context, in *features.Recording) (screen.Score, error) {
	x, rate := in.Samples, dsp.SampleRate
	if len(in.Native) > 0 && in.NativeRate >= dsp.MinResampleRate && in.NativeRate <= dsp.MaxResampleRate {
		x, rate = in.Native, in.NativeRate
	}
	var all, good []prediction
	var segments []screen.Segment
	for _, b := range spoof.SegmentBounds(len(x), rate) {
		if err := ctx.Err(); err != nil {
			return screen.Score{}, err
		}
		p := l.predict(spoof.Extract(x[b[0]:b[1]], rate))
		s := screen.Segment{Start: float64(b[0]) / float64(rate), End: float64(b[1]) / float64(rate), Probability: math.NaN()}
		all = append(all, p)
		if p.coverage >= leastCoverage {
			good = append(good, p)
			var part screen.Score
			l.decide(&part, p.eta, 0)
			s.Probability = part.Probability
		}
		segments = append(segments, s)
	}
	enough := len(good) > 0
	if !enough {
		good = all
	}
	p := average(good)
	s := l.finish(&p)
	s.Segments = segments
	s.Cautions = l.cautions(in, &p, enough)
	if s.Doubtful() {
		s.Decision = screen.Indeterminate
	}
	return s, nil
}

// average is the mean of predictions: of a feature's value over those that
// measured it, of everything else over all.
func average(list []prediction) prediction {
	n := float64(len(list))
	features := len(list[0].part)
	p := prediction{value: make([]float64, features), part: make([]float64, features)}
	for _, q := range list {
		p.eta += q.eta / n
		p.variance += q.variance / n
		p.coverage += q.coverage / n
		p.nearest += q.nearest / n
		for i := range q.part {
			p.part[i] += q.part[i] / n
		}
	}
	for i := range p.value {
		var sum, count float64
		for _, q := range list {
			if !math.IsNaN(q.value[i]) {
				sum += q.value[i]
				count++
			}
		}
		p.value[i] = sum / count // 0/0 is NaN
	}
	return p
}
