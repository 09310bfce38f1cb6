package dam

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// small is the shape of the small goldens.
var small = Shape{Mels: 8, Frames: 21, Width: 24, Heads: 3, Inner: 40, Layers: 2, Hidden: 20, Shared: 12, Task: 10}

// randomWeights draws weights of a shape from a seed, scaled so that
// activations stay of the order of one.
func randomWeights(s Shape, seed uint64) Weights {
	r := rand.New(rand.NewPCG(seed, 1))
	w := Weights{}
	for name, dims := range s.Tensors() {
		n := 1
		for _, d := range dims {
			n *= d
		}
		t := Tensor{Dims: dims, Data: make([]float32, n)}
		scale, mean := 0.05, 0.0
		switch {
		case strings.HasSuffix(name, "layer_norm.weight"):
			mean = 1
		case len(dims) > 1:
			scale = 0.3
		}
		for i := range t.Data {
			t.Data[i] = float32(mean + scale*r.NormFloat64())
		}
		w[name] = t
	}
	return w
}

func TestPublishedShape(t *testing.T) {
	count, numbers := 0, 0
	for _, dims := range Published.Tensors() {
		count++
		n := 1
		for _, d := range dims {
			n *= d
		}
		numbers += n
	}
	// Whisper-small's encoder has 88,154,112 parameters: 4 for the
	// convolutions, 1 for the positions, 15 for each layer, 2 for the last
	// normalisation. The head has 4 tensors, and 3 for each task.
	const encoder, head = 4 + 1 + 12*15 + 2, 4 + 2*3
	if want := 2*encoder + head; count != want {
		t.Errorf("got %d tensors, want %d", count, want)
	}
	const headNumbers = 1536*256 + 256 + 256*64 + 64 + 2*(64*128+128+128)
	if want := 2*88154112 + headNumbers; numbers != want {
		t.Errorf("got %d parameters, want %d", numbers, want)
	}
}

func TestWeightsThatDoNotFit(t *testing.T) {
	const name = "backbone.llma.backbone.layers.1.fc2.weight"
	for _, c := range []struct {
		what   string
		change func(Weights)
		want   string
	}{
		{"a tensor is missing", func(w Weights) { delete(w, name) }, name + " is missing"},
		{"a tensor is turned", func(w Weights) { w[name] = Tensor{[]int{40, 24}, make([]float32, 960)} }, name + " is [40 24], want [24 40]"},
		{"a tensor is unknown", func(w Weights) { w["backbone.x"] = Tensor{} }, "backbone.x is unknown"},
		{"the key projection has a bias", func(w Weights) {
			w["backbone.audio.backbone.layers.0.self_attn.k_proj.bias"] = Tensor{[]int{24}, make([]float32, 24)}
		}, "k_proj.bias is unknown"},
	} {
		w := randomWeights(small, 1)
		if err := w.Check(small); err != nil {
			t.Fatal(err)
		}
		c.change(w)
		err := w.Check(small)
		if !errors.Is(err, ErrWeights) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.what, err, c.want)
		}
	}
	w := randomWeights(small, 1)
	for what, dims := range map[string][]int{name: {24, 41}, "backbone.x": {1}} {
		if err := w.Read(make([]float32, dims[0]), what, dims); !errors.Is(err, ErrWeights) {
			t.Errorf("reading %s as %v: got %v, want %v", what, dims, err, ErrWeights)
		}
	}
}
