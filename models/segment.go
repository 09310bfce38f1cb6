package models

import (
	"context"
	"encoding/json"
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

// Segment is the score of a stretch of a recording. A recording of up to 4 s
// is one segment; a longer one is divided into the fewest of equal length that
// are no longer than that. A recording of which a part was replaced shows where
// by the segments that differ.
type Segment struct {
	Start, End  float64 // seconds from the beginning
	Probability float64 // calibrated as that of the recording; NaN if too little of it is speech
}

// segmentJSON is a Segment in JSON.
type segmentJSON struct {
	Start       float64  `json:"start_s"`
	End         float64  `json:"end_s"`
	Probability *float64 `json:"probability"`
}

// MarshalJSON has null for a probability that is NaN.
func (s Segment) MarshalJSON() ([]byte, error) {
	return json.Marshal(segmentJSON{s.Start, s.End, orNull(s.Probability)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Segment) UnmarshalJSON(b []byte) error {
	var in segmentJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*s = Segment{in.Start, in.End, orNaN(in.Probability)}
	return nil
}

// SegmentSeconds is the longest segment: as long as the recordings that the
// shipped deepfake model was trained on, so that statistics over a segment
// have the spread that the model knows.
const SegmentSeconds = 4.0

// maxSegments bounds how many segments a Score has; more than that would be
// longer than SegmentSeconds, and are spread evenly over the recording instead.
// Chosen: ten minutes.
const maxSegments = 150

// segmentBounds returns the bounds in samples of the segments of n samples.
func segmentBounds(n, rate int) [][2]int {
	longest := SegmentSeconds * float64(rate)
	count := max(int(math.Ceil(float64(n)/longest-1e-9)), 1)
	bounds := make([][2]int, 0, min(count, maxSegments))
	for k := range min(count, maxSegments) {
		i := k * count / min(count, maxSegments)
		bounds = append(bounds, [2]int{i * n / count, (i + 1) * n / count})
	}
	return bounds
}

// SpoofSegments returns ExtractSpoof of each [Segment] of the recording.
func SpoofSegments(x []float64, rate int) []Vector {
	bounds := segmentBounds(len(x), rate)
	v := make([]Vector, len(bounds))
	for k, b := range bounds {
		v[k] = ExtractSpoof(x[b[0]:b[1]], rate)
	}
	return v
}

// leastCoverage is how much of the model's weight must be measured in a segment
// for it to have a score. Chosen: without pitch, in a segment without speech,
// it is less.
const leastCoverage = 0.5

// scoreSegments scores the recording segment by segment.
func (l *Linear) scoreSegments(ctx context.Context, in *Recording) (Score, error) {
	x, rate := in.Samples, dsp.SampleRate
	if len(in.Native) > 0 && in.NativeRate >= dsp.MinResampleRate && in.NativeRate <= dsp.MaxResampleRate {
		x, rate = in.Native, in.NativeRate
	}
	var all, good []prediction
	var segments []Segment
	for _, b := range segmentBounds(len(x), rate) {
		if err := ctx.Err(); err != nil {
			return Score{}, err
		}
		p := l.predict(ExtractSpoof(x[b[0]:b[1]], rate))
		s := Segment{float64(b[0]) / float64(rate), float64(b[1]) / float64(rate), math.NaN()}
		all = append(all, p)
		if p.coverage >= leastCoverage {
			good = append(good, p)
			var part Score
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
		s.Decision = Indeterminate
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
