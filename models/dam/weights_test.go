package dam

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// tensor is an array of numbers in row-major order.
type tensor struct {
	dims []int
	data []float32
}

// weights are the tensors of a network in memory, by the names of Shape.Tensors.
type weights map[string]tensor

// read is a TensorReader.
func (w weights) read(dst []float32, name string, dims []int) error {
	t, ok := w[name]
	if !ok {
		return fmt.Errorf("%w: %s is missing", ErrWeights, name)
	}
	if !slices.Equal(t.dims, dims) {
		return fmt.Errorf("%w: %s is %v, want %v", ErrWeights, name, t.dims, dims)
	}
	copy(dst, t.data)
	return nil
}

// readWeights reads every tensor of the small shape.
func readWeights(read TensorReader) (weights, error) {
	w := weights{}
	for name, dims := range small.Tensors() {
		t := tensor{dims, make([]float32, count(dims))}
		if err := read(t.data, name, dims); err != nil {
			return nil, err
		}
		w[name] = t
	}
	return w, nil
}

// small is the shape of the small goldens.
var small = Shape{Mels: 8, Frames: 21, Width: 24, Heads: 3, Inner: 40, Layers: 2, Hidden: 20, Shared: 12, Task: 10}

// randomWeights draws weights of a shape from a seed, scaled so that
// activations stay of the order of one.
func randomWeights(s Shape, seed uint64) weights {
	r := rand.New(rand.NewPCG(seed, 1))
	w := weights{}
	for name, dims := range s.Tensors() {
		t := tensor{dims, make([]float32, count(dims))}
		scale, mean := 0.05, 0.0
		switch {
		case strings.HasSuffix(name, "layer_norm.weight"):
			mean = 1
		case len(dims) > 1:
			scale = 0.3
		}
		for i := range t.data {
			t.data[i] = float32(mean + scale*r.NormFloat64())
		}
		w[name] = t
	}
	return w
}

func TestPublishedShape(t *testing.T) {
	tensors, numbers := 0, 0
	for _, dims := range Published.Tensors() {
		tensors++
		numbers += count(dims)
	}
	// Whisper-small's encoder has 88,154,112 parameters: 4 for the
	// convolutions, 1 for the positions, 15 for each layer, 2 for the last
	// normalisation. The head has 4 tensors, and 3 for each task.
	const encoder, head = 4 + 1 + 12*15 + 2, 4 + 2*3
	if want := 2*encoder + head; tensors != want {
		t.Errorf("got %d tensors, want %d", tensors, want)
	}
	const headNumbers = 1536*256 + 256 + 256*64 + 64 + 2*(64*128+128+128)
	if want := 2*88154112 + headNumbers; numbers != want {
		t.Errorf("got %d parameters, want %d", numbers, want)
	}
}
