package nn

import (
	"fmt"
	"math"

	"github.com/voicescreen/voicescreen/models/internal/nn/simd"
	"github.com/voicescreen/voicescreen/models/internal/nn/tensorfile"
)

// Loader reads tensors and packs them for their products. After an error its methods
// do nothing, and Err is the error.
type Loader struct {
	// Read fills dst with the tensor of this name, which must have the dimensions
	// dims, in row-major order.
	Read   func(dst []float32, name string, dims []int) error
	Paired bool   // weights are packed as pairs of bfloat16
	Int8   bool   // weights are packed as integers of eight bits, unless a method says otherwise
	Prefix string // of all names
	Err    error

	buffer []float32 // one tensor, or the three projections of a layer
}

// Tensor reads a tensor into dst, whose length is the product of dims. A number that
// is not finite is an error that wraps tensorfile.ErrWeights.
func (l *Loader) Tensor(dst []float32, name string, dims ...int) {
	if l.Err != nil {
		return
	}
	name = l.Prefix + name
	if err := l.Read(dst, name, dims); err != nil {
		l.Err = fmt.Errorf("read %s: %w", name, err)
	} else if sum := float64(simd.Sum(dst)); math.IsNaN(sum) || math.IsInf(sum, 0) {
		l.Err = fmt.Errorf("%w: %s has numbers that are not finite", tensorfile.ErrWeights, name)
	}
}

// Scratch returns n numbers, which are valid until the next call of a method.
func (l *Loader) Scratch(n int) []float32 {
	if len(l.buffer) < n {
		l.buffer = make([]float32, n)
	}
	return l.buffer[:n]
}

// Vector returns a tensor without packing it.
func (l *Loader) Vector(name string, dims ...int) []float32 {
	n := 1
	for _, d := range dims {
		n *= d
	}
	x := make([]float32, n)
	l.Tensor(x, name, dims...)
	return x
}

// Norm reads the tensors name.weight and name.bias.
func (l *Loader) Norm(name string, width int) Norm {
	return Norm{l.Vector(name+".weight", width), l.Vector(name+".bias", width)}
}

// Pack packs the weight x [outputs, inputs], which may be overwritten.
func (l *Loader) Pack(to *Linear, x []float32, outputs, inputs int) {
	switch {
	case l.Int8:
		to.Weight.PackQuads(x, inputs, outputs, inputs)
	case l.Paired:
		to.Weight.PackPairs(x, inputs, outputs, inputs)
	default:
		to.Weight.PackTransposed(x, inputs, outputs, inputs)
	}
}

// Exact calls read, during which weights are not packed as integers.
func (l *Loader) Exact(read func()) {
	former := l.Int8
	l.Int8 = false
	read()
	l.Int8 = former
}

// Linear reads the tensors name.weight [outputs, inputs] and name.bias.
func (l *Loader) Linear(to *Linear, name string, outputs, inputs int) {
	x := l.Scratch(outputs * inputs)
	l.Tensor(x, name+".weight", outputs, inputs)
	l.Pack(to, x, outputs, inputs)
	to.Bias = l.Vector(name+".bias", outputs)
}

// Convolution reads the weight name.weight [outputs, inputs, taps] into a linear
// layer whose inputs are in the order tap, channel: with frames one after the other,
// a row of the left factor is taps of them. It reads name.bias if biased is set.
func (l *Loader) Convolution(to *Linear, name string, outputs, inputs, taps int, biased bool) {
	x := l.Scratch(2 * outputs * inputs * taps)
	x, reordered := x[:len(x)/2], x[len(x)/2:]
	l.Tensor(x, name+".weight", outputs, inputs, taps)
	for o := range outputs {
		for c := range inputs {
			for t := range taps {
				reordered[(o*taps+t)*inputs+c] = x[(o*inputs+c)*taps+t]
			}
		}
	}
	l.Pack(to, reordered, outputs, taps*inputs)
	if biased {
		to.Bias = l.Vector(name+".bias", outputs)
	}
}

// Attention reads the projections q_proj, k_proj and v_proj under name as one layer
// for queries, keys and values of this number of heads. The scale of the scores,
// 1/√(width/heads), is multiplied into the projection of queries. Without keyBias the
// projection of keys has none.
func (l *Loader) Attention(to *Linear, name string, width, heads int, keyBias bool) {
	x := l.Scratch(3 * width * width)
	bias := make([]float32, 3*width)
	scale := float32(1 / math.Sqrt(float64(width/heads)))

	q := x[:width*width]
	l.Tensor(q, name+".q_proj.weight", width, width)
	l.Tensor(bias[:width], name+".q_proj.bias", width)
	simd.Scale(q, scale)
	simd.Scale(bias[:width], scale)
	l.Tensor(x[width*width:2*width*width], name+".k_proj.weight", width, width)
	if keyBias {
		l.Tensor(bias[width:2*width], name+".k_proj.bias", width)
	}
	l.Tensor(x[2*width*width:], name+".v_proj.weight", width, width)
	l.Tensor(bias[2*width:], name+".v_proj.bias", width)
	l.Pack(to, x, 3*width, width)
	to.Bias = bias
}
