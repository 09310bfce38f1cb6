package dam

import (
	"errors"
	"fmt"
	"slices"
)

// ErrWeights says that tensors do not fit the network: one is missing, unknown
// or of the wrong shape. The message names it.
var ErrWeights = errors.New("dam: weights do not fit the network")

// A TensorReader fills dst with the tensor called name, in row-major order.
// dims are the dimensions that the network needs, and len(dst) their product.
// It returns an error that wraps [ErrWeights] if it has no such tensor or one
// of other dimensions. It does not keep dst, name or dims.
type TensorReader func(dst []float32, name string, dims []int) error

// Tensor is an array of numbers in row-major order.
type Tensor struct {
	Dims []int
	Data []float32 // as many numbers as the product of Dims
}

// Weights are the tensors of a network in memory, by the names of
// [Shape.Tensors].
type Weights map[string]Tensor

// Read is a [TensorReader].
func (w Weights) Read(dst []float32, name string, dims []int) error {
	t, ok := w[name]
	if !ok {
		return fmt.Errorf("%w: %s is missing", ErrWeights, name)
	}
	if !slices.Equal(t.Dims, dims) {
		return fmt.Errorf("%w: %s is %v, want %v", ErrWeights, name, t.Dims, dims)
	}
	if len(t.Data) != len(dst) {
		return fmt.Errorf("%w: %s has %d numbers, want %d", ErrWeights, name, len(t.Data), len(dst))
	}
	copy(dst, t.Data)
	return nil
}

// Check reports the first tensor, in the order of [Shape.Tensors], that is
// missing or of the wrong shape, and then one that the network has no use for.
func (w Weights) Check(s Shape) error {
	known := map[string]bool{}
	for name, dims := range s.Tensors() {
		known[name] = true
		t, ok := w[name]
		if !ok {
			return fmt.Errorf("%w: %s is missing", ErrWeights, name)
		}
		if !slices.Equal(t.Dims, dims) {
			return fmt.Errorf("%w: %s is %v, want %v", ErrWeights, name, t.Dims, dims)
		}
	}
	var extra []string
	for name := range w {
		if !known[name] {
			extra = append(extra, name)
		}
	}
	if len(extra) > 0 {
		return fmt.Errorf("%w: %s is unknown", ErrWeights, slices.Min(extra))
	}
	return nil
}
