package features

import (
	"context"
	"slices"
	"time"
)

// A Recorder takes the samples of a recording as they come, and gives them as a [Source].
// It keeps them in as few bytes as give the same values: 2 for 16 bits, 4 for samples that
// are float32. It is not safe for concurrent use.
type Recorder struct {
	src   Source
	block []float64 // that is not full yet
	left  int       // samples up to the limit
	ended bool
}

// NewRecorder returns a Recorder of mono samples at the rate in Hz, for at most the length
// most, as [ReadChannel] counts it. Lossy is whether the samples were encoded with loss
// before. The error is an UnsuitableError for a rate that is not from 8 to 192 kHz.
func NewRecorder(rate int, most time.Duration, lossy bool) (*Recorder, error) {
	if err := checkRate(rate); err != nil {
		return nil, err
	}
	if most <= 0 {
		most = MaxDuration
	}
	return &Recorder{src: Source{rate: rate, lossy: lossy}, left: maxSamples(rate, most)}, nil
}

// Write takes the next samples, nominally in [-1, 1), which are not kept, and returns how
// many of them are within the limit. The others are dropped. It panics after a call of
// Source.
func (r *Recorder) Write(x []float64) int {
	if r.ended {
		panic("features: write to a recorder that has ended")
	}
	n := min(len(x), r.left)
	r.left -= n
	r.src.partial = r.src.partial || n < len(x)
	for x := x[:n]; len(x) > 0; {
		m := min(len(x), readBlock-len(r.block))
		r.block = append(slices.Grow(r.block, readBlock-len(r.block)), x[:m]...)
		if x = x[m:]; len(r.block) == readBlock {
			r.flush()
		}
	}
	return n
}

// flush surveys and keeps the block.
func (r *Recorder) flush() {
	r.src.survey.Add(nil, r.block)
	r.src.kept.add(r.block)
	r.block = r.block[:0]
}

// Source ends the recording and returns it. What is measured of it is, bit for bit, what is
// measured of a file with the same samples. Reads fail with ctx's error. Further calls give
// the same Source with another ctx. The error is an UnsuitableError for no samples.
func (r *Recorder) Source(ctx context.Context) (*Source, error) {
	if !r.ended {
		r.flush()
		r.ended, r.block = true, nil
	}
	if r.src.Len() == 0 {
		return nil, UnsuitableError("recording holds no samples")
	}
	r.src.ctx = ctx
	return &r.src, nil
}
