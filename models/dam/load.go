package dam

import (
	"fmt"
	"math"

	"github.com/voicescreen/voicescreen/models/internal/nn/simd"
	"github.com/voicescreen/voicescreen/models/internal/nn/tensorfile"
)

// ErrWeights is wrapped by the errors about tensors that do not fit the network:
// one is missing, unknown or of the wrong shape. The message names it.
var ErrWeights = tensorfile.ErrWeights

// A TensorReader fills dst with the tensor of this name, in row-major order.
// dims are the dimensions that the network needs, and len(dst) their product. The
// error wraps [ErrWeights] if the tensor is missing or has other dimensions. A
// TensorReader keeps none of dst, name and dims.
type TensorReader func(dst []float32, name string, dims []int) error

// load reads the weights of a network.
func load(s Shape, read TensorReader, paired bool) (*Network, error) {
	n := &Network{shape: s, paired: paired}
	l := &loader{read: read, paired: paired, shape: s}
	for i, name := range encoders {
		l.prefix = "backbone." + name + ".backbone."
		l.encoder(&n.encoders[i])
	}
	l.prefix = "head."
	l.head(&n.head)
	return n, l.err
}

// loader reads tensors and packs them. After an error its methods do nothing.
type loader struct {
	read   TensorReader
	paired bool // weights are packed in pairs
	shape  Shape
	prefix string
	buffer []float32 // one tensor, or the three projections of a layer
	err    error
}

// tensor reads a tensor into dst, whose length is the product of dims, and
// refuses numbers that are not finite.
func (l *loader) tensor(dst []float32, name string, dims ...int) {
	if l.err != nil {
		return
	}
	name = l.prefix + name
	if err := l.read(dst, name, dims); err != nil {
		l.err = fmt.Errorf("dam: read %s: %w", name, err)
	} else if sum := float64(simd.Sum(dst)); math.IsNaN(sum) || math.IsInf(sum, 0) {
		l.err = fmt.Errorf("%w: %s has numbers that are not finite", ErrWeights, name)
	}
}

// scratch returns n numbers, which are valid until the next call.
func (l *loader) scratch(n int) []float32 {
	if len(l.buffer) < n {
		l.buffer = make([]float32, n)
	}
	return l.buffer[:n]
}

// vector returns a tensor without packing it.
func (l *loader) vector(name string, dims ...int) []float32 {
	x := make([]float32, count(dims))
	l.tensor(x, name, dims...)
	return x
}

func (l *loader) norm(name string) layerNorm {
	return layerNorm{l.vector(name+".weight", l.shape.Width), l.vector(name+".bias", l.shape.Width)}
}

func (l *loader) dense(name string, outputs, inputs int) dense {
	return dense{l.vector(name+".weight", outputs, inputs), l.vector(name+".bias", outputs)}
}

// pack packs the weight x [outputs, inputs], which may be overwritten.
func (l *loader) pack(to *linear, x []float32, outputs, inputs int) {
	if l.paired {
		to.weight.PackPairs(x, inputs, outputs, inputs)
	} else {
		to.weight.PackTransposed(x, inputs, outputs, inputs)
	}
}

func (l *loader) linear(to *linear, name string, outputs, inputs int) {
	x := l.scratch(outputs * inputs)
	l.tensor(x, name+".weight", outputs, inputs)
	l.pack(to, x, outputs, inputs)
	to.bias = l.vector(name+".bias", outputs)
}

// taps is the width of the convolutions.
const taps = 3

// convolution reads a weight [outputs, inputs, taps] into a linear layer whose
// inputs are in the order tap, channel.
func (l *loader) convolution(to *linear, name string, outputs, inputs int) {
	x := l.scratch(2 * outputs * inputs * taps)
	x, reordered := x[:len(x)/2], x[len(x)/2:]
	l.tensor(x, name+".weight", outputs, inputs, taps)
	for o := range outputs {
		for c := range inputs {
			for t := range taps {
				reordered[(o*taps+t)*inputs+c] = x[(o*inputs+c)*taps+t]
			}
		}
	}
	l.pack(to, reordered, outputs, taps*inputs)
	to.bias = l.vector(name+".bias", outputs)
}

// attention reads the projections of queries, keys and values as one layer. The
// scale of the scores is multiplied into the projection of queries.
func (l *loader) attention(to *linear, name string) {
	width := l.shape.Width
	x := l.scratch(3 * width * width)
	bias := make([]float32, 3*width)
	scale := float32(1 / math.Sqrt(float64(width/l.shape.Heads)))

	q := x[:width*width]
	l.tensor(q, name+".q_proj.weight", width, width)
	l.tensor(bias[:width], name+".q_proj.bias", width)
	simd.Scale(q, scale)
	simd.Scale(bias[:width], scale)
	l.tensor(x[width*width:2*width*width], name+".k_proj.weight", width, width)
	l.tensor(x[2*width*width:], name+".v_proj.weight", width, width)
	l.tensor(bias[2*width:], name+".v_proj.bias", width)
	l.pack(to, x, 3*width, width)
	to.bias = bias
}

func (l *loader) encoder(to *encoder) {
	s := l.shape
	to.shape = s
	l.convolution(&to.conv1, "conv1", s.Width, s.Mels)
	l.convolution(&to.conv2, "conv2", s.Width, s.Width)
	to.positions = l.vector("embed_positions.weight", s.Frames, s.Width)
	to.layers = make([]layer, s.Layers)
	for i := range to.layers {
		at, layer := fmt.Sprintf("layers.%d.", i), &to.layers[i]
		layer.attentionNorm = l.norm(at + "self_attn_layer_norm")
		l.attention(&layer.qkv, at+"self_attn")
		l.linear(&layer.out, at+"self_attn.out_proj", s.Width, s.Width)
		layer.innerNorm = l.norm(at + "final_layer_norm")
		l.linear(&layer.fc1, at+"fc1", s.Inner, s.Width)
		l.linear(&layer.fc2, at+"fc2", s.Width, s.Inner)
		if l.err != nil {
			return
		}
	}
	to.norm = l.norm("layer_norm")
}

func (l *loader) head(to *head) {
	s := l.shape
	to.hidden = l.dense("shared_layers.shared_layers.0", s.Hidden, len(encoders)*s.Width)
	to.shared = l.dense("shared_layers.shared_layers.2", s.Shared, s.Hidden)
	for i, task := range tasks {
		to.tasks[i].linear = l.dense("classifier_head."+task+".linear", s.Task, s.Shared)
		to.tasks[i].final = dense{weight: l.vector("classifier_head."+task+".final_layer.weight", 1, s.Task)}
	}
}
