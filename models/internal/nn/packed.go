package nn

import (
	"fmt"
	"iter"
	"math"

	"github.com/voicescreen/voicescreen/models/internal/nn/gemm"
	"github.com/voicescreen/voicescreen/models/internal/nn/tensorfile"
)

// Array is an array that a network holds ready for its products: a vector, or the words of
// a packed matrix.
type Array struct {
	Name string
	Len  int

	get func() []float32
	set func(x []float32) error
}

// Arrays collects the arrays of a network whose layers are allocated, in a fixed order.
// Their numbers are the same on every processor.
type Arrays struct {
	Int8 bool // matrices are of integers, unless a method says otherwise
	all  []Array
}

// Vector adds a vector of size numbers.
func (a *Arrays) Vector(name string, x *[]float32, size int) {
	a.all = append(a.all, Array{name, size, func() []float32 { return *x }, func(y []float32) error {
		*x = y[:size:size]
		return nil
	}})
}

// Exact adds a matrix of float32.
func (a *Arrays) Exact(name string, m *gemm.Matrix, inputs, outputs int) {
	a.all = append(a.all, Array{name, gemm.PackedLen(inputs, outputs), m.Packed, func(x []float32) error {
		m.SetPacked(x, inputs, outputs)
		return nil
	}})
}

// Matrix adds a matrix: one of integers if Int8 is set.
func (a *Arrays) Matrix(name string, m *gemm.Matrix, inputs, outputs int) {
	if !a.Int8 {
		a.Exact(name, m, inputs, outputs)
		return
	}
	a.all = append(a.all, Array{name, gemm.PackedQuadsLen(inputs, outputs), m.Packed, func(x []float32) error {
		m.SetPackedQuads(x, inputs, outputs)
		for _, v := range m.Scales() {
			if !(v >= 0 && v <= math.MaxFloat32) {
				return fmt.Errorf("%w: %s has the scale %v", tensorfile.ErrWeights, name, v)
			}
		}
		return nil
	}})
}

// Linear adds a linear layer.
func (a *Arrays) Linear(name string, l *Linear, inputs, outputs int) {
	a.Matrix(name+".weight", &l.Weight, inputs, outputs)
	a.Vector(name+".bias", &l.Bias, outputs)
}

// Norm adds a normalisation.
func (a *Arrays) Norm(name string, n *Norm, width int) {
	a.Vector(name+".weight", &n.Weight, width)
	a.Vector(name+".bias", &n.Bias, width)
}

// Layer adds a layer of an encoder.
func (a *Arrays) Layer(name string, l *Layer, width, inner int) {
	a.Norm(name+".attention.norm", &l.AttentionNorm, width)
	a.Linear(name+".qkv", &l.QKV, width, 3*width)
	a.Linear(name+".out", &l.Out, width, width)
	a.Norm(name+".inner.norm", &l.InnerNorm, width)
	a.Linear(name+".fc1", &l.FC1, width, inner)
	a.Linear(name+".fc2", &l.FC2, inner, width)
}

// Dims yields the name and the dimensions of each array.
func (a *Arrays) Dims() iter.Seq2[string, []int] {
	return func(yield func(string, []int) bool) {
		for _, x := range a.all {
			if !yield(x.Name, []int{x.Len}) {
				return
			}
		}
	}
}

// Get returns the arrays by their names. The caller must not change them.
func (a *Arrays) Get() map[string][]float32 {
	m := map[string][]float32{}
	for _, x := range a.all {
		m[x.Name] = x.get()
	}
	return m
}

// Set makes these the arrays of the network, which keeps and does not change them. The
// error wraps tensorfile.ErrWeights if one is missing or of another length, or if a scale
// of integers is negative or not finite; the network must not be used then.
func (a *Arrays) Set(arrays map[string][]float32) error {
	for _, x := range a.all {
		y := arrays[x.Name]
		if len(y) != x.Len {
			return fmt.Errorf("%w: %s has %d numbers, want %d", tensorfile.ErrWeights, x.Name, len(y), x.Len)
		}
		if err := x.set(y); err != nil {
			return err
		}
	}
	return nil
}
