package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/features"
)

// SegmentSeconds is the longest segment: as long as the recordings that the
// shipped deepfake model was trained on, so that statistics over a segment
// have the spread that the model knows.
const SegmentSeconds = 4.0

// maxSegments bounds how many segments a Score has; more than that would be
// longer than SegmentSeconds, and are spread evenly over the recording instead.
// Chosen: ten minutes.
const maxSegments = 150

// segmentBounds returns the bounds in samples of the segments of n samples.
func SegmentBounds(n, rate int) [][2]int {
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
func Segments(x []float64, rate int) []features.Vector {
	bounds := SegmentBounds(len(x), rate)
	v := make([]features.Vector, len(bounds))
	for k, b := range bounds {
		v[k] = Extract(x[b[0]:b[1]], rate)
	}
	return v
}
