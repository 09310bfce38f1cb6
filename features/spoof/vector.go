package spoof

import "math"

// A vector fills the features of a part of a recording of length samples, from
// sample lo to before hi. It owns the scratch of the statistics.
type vector struct {
	out            []float64
	next           int // the feature that put sets next
	lo, hi, length int

	picked                     []float64 // what where returned
	steps, bends, level, ratio []float64
	chosen                     []bool
	inside                     []int // frames
	changes                    table // of tracks at these frames
}

// from sets the feature that put sets next.
func (v *vector) from(feature string) { v.next = schema.Index(feature) }

// put sets the next features in schema order.
func (v *vector) put(values ...float64) { v.next += copy(v.out[v.next:], values) }

// frames returns the range lo ≤ i < hi of those of n frames, of size samples
// every hop, that have their middle in the part. The whole recording has all n,
// also the only frame of a recording that is shorter than a frame.
func (v *vector) frames(n, hop, size int) (lo, hi int) {
	first := func(sample int) int { return min(max((sample-size/2+hop-1)/hop, 0), n) }
	lo, hi = first(v.lo), first(v.hi)
	if v.hi == v.length {
		hi = n
	}
	return min(lo, hi), hi
}

// where returns the values of x for which on holds. They are valid until the
// next call.
func (v *vector) where(x []float64, on []bool) []float64 {
	v.picked = v.picked[:0]
	for i, value := range x {
		if on[i] {
			v.picked = append(v.picked, value)
		}
	}
	return v.picked
}

// leastVoiced is how many frames the statistics of enough need: of those every 10 ms 80 ms
// of voice, of those every 20 ms 160 ms. Chosen.
const leastVoiced = 8

// enough returns mean and standard deviation of the track where on holds, NaN
// for fewer than leastVoiced frames.
func (v *vector) enough(track []float64, on []bool) (m, dev float64) {
	x := v.where(track, on)
	if len(x) < leastVoiced {
		return math.NaN(), math.NaN()
	}
	return meanSD(x)
}
