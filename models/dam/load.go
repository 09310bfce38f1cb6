package dam

import (
	"fmt"

	"github.com/voicescreen/voicescreen/models/internal/nn"
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
func load(s Shape, read TensorReader, paired, int8 bool) (*Network, error) {
	n := &Network{shape: s, paired: paired, int8: int8}
	l := &loader{Loader: nn.Loader{Read: read, Paired: paired, Int8: int8}, shape: s}
	for i, name := range encoders {
		l.Prefix = "backbone." + name + ".backbone."
		l.encoder(&n.encoders[i])
	}
	l.Prefix = "head."
	l.head(&n.head)
	if l.Err != nil {
		return n, fmt.Errorf("dam: %w", l.Err)
	}
	return n, nil
}

// loader reads the tensors of a shape. After an error its methods do nothing.
type loader struct {
	nn.Loader
	shape Shape
}

func (l *loader) norm(name string) nn.Norm { return l.Norm(name, l.shape.Width) }

func (l *loader) dense(name string, outputs, inputs int) dense {
	return dense{l.Vector(name+".weight", outputs, inputs), l.Vector(name+".bias", outputs)}
}

// taps is the width of the convolutions.
const taps = 3

func (l *loader) encoder(to *encoder) {
	s := l.shape
	to.shape = s
	l.Exact(func() { l.Convolution(&to.conv1, "conv1", s.Width, s.Mels, taps, true) })
	l.Convolution(&to.conv2, "conv2", s.Width, s.Width, taps, true)
	to.positions = l.Vector("embed_positions.weight", s.Frames, s.Width)
	to.layers = make([]nn.Layer, s.Layers)
	for i := range to.layers {
		at, layer := fmt.Sprintf("layers.%d.", i), &to.layers[i]
		layer.AttentionNorm = l.norm(at + "self_attn_layer_norm")
		l.Attention(&layer.QKV, at+"self_attn", s.Width, s.Heads, false)
		l.Linear(&layer.Out, at+"self_attn.out_proj", s.Width, s.Width)
		layer.InnerNorm = l.norm(at + "final_layer_norm")
		l.Linear(&layer.FC1, at+"fc1", s.Inner, s.Width)
		l.Linear(&layer.FC2, at+"fc2", s.Width, s.Inner)
		if l.Err != nil {
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
		to.tasks[i].final = dense{weight: l.Vector("classifier_head."+task+".final_layer.weight", 1, s.Task)}
	}
}
