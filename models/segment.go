package models

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/spoof"
	"github.com/voicescreen/voicescreen/screen"
)

// leastCoverage is the share of the model's weight that must be measured in a
// segment for it to have a score. Chosen: a segment without speech has less,
// because it has no pitch.
const leastCoverage = 0.5

// A segmentScorer is the scratch memory of one call of scoreSegments. It is not
// safe for concurrent use.
type segmentScorer struct {
	extractor *spoof.Extractor
	part      []float64 // the samples of a segment
	values    []float64 // the features of a segment
	work      workspace
	segments  []prediction
	mean      prediction
}

// segmentScorer returns one that is idle, or a new one.
func (l *Linear) segmentScorer() *segmentScorer {
	select {
	case w := <-l.idle:
		return w
	default:
		return &segmentScorer{extractor: spoof.NewExtractor(), values: make([]float64, l.schema.Len())}
	}
}

// release makes w idle. The garbage collector takes it if as many as there are
// processors are idle already.
func (l *Linear) release(w *segmentScorer) {
	select {
	case l.idle <- w:
	default:
	}
}

// scoreSegments scores the recording segment by segment.
func (l *Linear) scoreSegments(ctx context.Context, in *features.Recording) (screen.Score, error) {
	w := l.segmentScorer()
	defer l.release(w)
	samples, rate := segmentsOf(in, &w.part)
	bounds := spoof.SegmentBounds(samples.n, rate)
	segments := make([]screen.Segment, len(bounds))
	w.segments = sized(w.segments, len(bounds))
	enough := false
	for k, b := range bounds {
		if err := ctx.Err(); err != nil {
			return screen.Score{}, err
		}
		x, err := samples.next(b[0], b[1])
		if err != nil {
			return screen.Score{}, fmt.Errorf("models: %s: %w", l.file.Name, err)
		}
		p := &w.segments[k]
		l.predict(p, w.extractor.Extract(w.values, x, rate), &w.work)
		segments[k] = screen.Segment{Start: float64(b[0]) / float64(rate), End: float64(b[1]) / float64(rate), Probability: math.NaN()}
		if p.coverage >= leastCoverage {
			enough = true
			var part screen.Score
			l.decide(&part, p.eta, 0)
			segments[k].Probability = part.Probability
		}
	}
	least := 0.0 // all segments
	if enough {
		least = leastCoverage
	}
	w.mean.average(w.segments, least)
	s := l.finish(&w.mean, &w.work)
	s.Segments = segments
	s.Cautions = l.cautions(in, &w.mean, enough)
	s.Decide(s.Band) // again: the cautions count
	return s, nil
}

// A segmentReader reads segments of a recording, in ascending order.
type segmentReader struct {
	n    int       // samples of the recording
	x    []float64 // all of them, or
	src  *features.Source
	at   int        // the sample that src reads next, −1 before the first
	part *[]float64 // memory of a segment
}

// segmentsOf returns what reads the samples of a recording as it came, or, of one without
// a usable rate, those at dsp.SampleRate; and their rate in Hz.
func segmentsOf(in *features.Recording, part *[]float64) (r segmentReader, rate int) {
	usable := in.NativeRate >= dsp.MinResampleRate && in.NativeRate <= dsp.MaxResampleRate
	switch {
	case len(in.Native) > 0 && usable:
		return segmentReader{n: len(in.Native), x: in.Native}, in.NativeRate
	case in.Source != nil && len(in.Samples) == 0:
		return segmentReader{n: in.Source.Len(), src: in.Source, at: -1, part: part}, in.Source.Rate()
	}
	return segmentReader{n: len(in.Samples), x: in.Samples}, dsp.SampleRate
}

// next returns the samples lo to hi−1. They are valid until the next call.
func (r *segmentReader) next(lo, hi int) ([]float64, error) {
	if r.src == nil {
		return r.x[lo:hi], nil
	}
	if r.at < 0 {
		if err := r.src.Rewind(); err != nil {
			return nil, err
		}
		r.at = 0
	}
	*r.part = sized(*r.part, hi-lo)
	x := *r.part
	for r.at < hi {
		want := x[max(r.at-lo, 0):]
		if r.at < lo { // skip what is between segments
			want = x[:min(lo-r.at, len(x))]
		}
		n, err := r.src.Read(want)
		if err == io.EOF {
			err = dsp.ErrChanged
		}
		if err != nil {
			return nil, err
		}
		r.at += n
	}
	return x, nil
}

// average sets p to the mean of the predictions whose coverage is at least the
// given one, of which there must be one. A feature's value and deviation are
// the means over the predictions that have it. It reuses the memory of p.
func (p *prediction) average(list []prediction, coverage float64) {
	var n float64
	for i := range list {
		if list[i].coverage >= coverage {
			n++
		}
	}
	count := len(list[0].part)
	*p = prediction{value: sized(p.value, count), deviation: sized(p.deviation, count), part: sized(p.part, count)}
	clear(p.part)
	for i := range list {
		q := &list[i]
		if !(q.coverage >= coverage) {
			continue
		}
		p.eta += q.eta / n
		p.variance += q.variance / n
		p.coverage += q.coverage
		p.outside += q.outside / n
		for i := range q.part {
			p.part[i] += q.part[i] / n
		}
	}
	p.coverage /= n // of the sum: the mean of shares up to 1 is then never above 1 by rounding
	for i := range p.value {
		var sum, deviation, count float64
		for j := range list {
			if q := &list[j]; q.coverage >= coverage && !math.IsNaN(q.value[i]) {
				sum += q.value[i]
				deviation += q.deviation[i]
				count++
			}
		}
		p.value[i] = sum / count // 0/0 is NaN
		p.deviation[i] = deviation / max(count, 1)
	}
}
