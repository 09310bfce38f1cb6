package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/features"
)

// SegmentSeconds is the longest segment: as long as the recordings that the
// shipped deepfake model was trained on, so that statistics over a segment
// have the spread that the model knows.
const SegmentSeconds = 4.0

// maxSegments bounds how many segments a recording has. A longer recording than
// that many times SegmentSeconds has segments of that length spread evenly, with
// gaps between them. Chosen: ten minutes.
const maxSegments = 150

// SegmentBounds returns the first sample, and the one past the last, of each
// segment of n samples at the rate in Hz: at least one segment, at most 150, of
// at most SegmentSeconds each.
func SegmentBounds(n, rate int) [][2]int {
	longest := SegmentSeconds * float64(rate)
	count := max(int(math.Ceil(float64(n)/longest-1e-9)), 1)
	bounds := make([][2]int, min(count, maxSegments))
	for k := range bounds {
		i := k * count / len(bounds)
		bounds[k] = [2]int{i * n / count, (i + 1) * n / count}
	}
	return bounds
}

// Segments returns the features of each segment of mono samples at the rate in
// Hz, in the order of [SegmentBounds]. See [Extractor.Track] for x and rate. The
// vectors are the caller's.
func (e *Extractor) Segments(x []float64, rate int) []features.Vector {
	bounds := SegmentBounds(len(x), rate)
	v := make([]features.Vector, len(bounds))
	for k, b := range bounds {
		v[k] = e.Extract(nil, x[b[0]:b[1]], rate)
	}
	return v
}
