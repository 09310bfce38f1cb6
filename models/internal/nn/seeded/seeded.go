// Package seeded draws weights and samples for tests. Each number follows from the name
// of its tensor and its index, so that a program in another language can draw the same
// ones (wav2vec/testdata/make.py).
package seeded

import (
	"hash/fnv"
	"io"
	"math"
	"strings"
)

// Uniform draws numbers in [−1, 1): the top 24 bits of SplitMix64's outputs (Steele, Lea
// and Flood 2014) from a state of the key's FNV-1a hash and the seed.
func Uniform(dst []float32, key string, seed uint64) {
	h := fnv.New64a()
	_, _ = io.WriteString(h, key) // a hash returns no error
	state := h.Sum64() + seed
	for i := range dst {
		z := state + uint64(i+1)*0x9E3779B97F4A7C15
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		z ^= z >> 31
		dst[i] = float32(z>>40)/(1<<23) - 1
	}
}

// Weight draws the weight of this name and dimensions into dst, of their product. Its
// scale keeps activations of the order of one.
func Weight(dst []float32, name string, dims []int) {
	Uniform(dst, name, 0)
	factor, offset := float32(0.125), float32(0)
	switch {
	case strings.HasSuffix(name, "weight_g"):
		factor, offset = 0.25, 1
	case name == "layer_weights":
		factor = 1
	case len(dims) == 1 && strings.HasSuffix(name, ".weight"): // of a normalisation
		factor, offset = 0.25, 1
	case len(dims) > 1:
		inputs := 1
		for _, d := range dims[1:] {
			inputs *= d
		}
		factor = 1.5 * float32(math.Exp2(math.Floor(0.5*math.Log2(3/float64(inputs)))))
	}
	for i, u := range dst {
		dst[i] = offset + float32(u*factor)
	}
}

// Samples returns n samples of noise round 0.03.
func Samples(n int) []float32 {
	x := make([]float32, n)
	Uniform(x, "samples", 0)
	for i := range x {
		x[i] = 0.25*x[i] + 0.03
	}
	return x
}
