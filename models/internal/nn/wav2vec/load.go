package wav2vec

import (
	"fmt"
	"math"

	"github.com/voicescreen/voicescreen/models/internal/nn"
)

// allocate makes the layers of the network, without their weights.
func (n *Network) allocate() {
	s := &n.shape
	n.convolutions = make([]convolution, len(s.Kernels))
	for i, k := range s.Kernels {
		n.convolutions[i].kernel, n.convolutions[i].stride = k, s.Strides[i]
	}
	n.positions = make([]nn.Linear, s.PositionGroups)
	n.layers = make([]nn.Layer, s.Layers)
	n.head = make([]dense, 1, 2)
	if s.Projection > 0 {
		n.head = n.head[:2]
	}
}

// finish computes what follows from the weights.
func (n *Network) finish() {
	n.mix = make([]float64, n.shape.Layers+1) // only the last output counts
	n.mix[n.shape.Layers] = 1
	if n.shape.WeightedSum {
		softmax(n.mix, n.layerWeights)
	}
}

// load reads the weights of a network.
func (n *Network) load(read func(dst []float32, name string, dims []int) error) error {
	s, l := &n.shape, &nn.Loader{Read: read, Int8: n.int8}
	inputs := 1
	for i := range n.convolutions {
		at, c := fmt.Sprintf("feature_extractor.conv_layers.%d.", i), &n.convolutions[i]
		convolution := func() { l.Convolution(&c.linear, at+"0", s.Channels, inputs, c.kernel, s.ConvBias) }
		switch {
		case i == 0 && s.ConvNorm == GroupNorm:
			n.first = l.Vector(at+"0.weight", s.Channels, inputs, c.kernel)
			if s.ConvBias {
				c.linear.Bias = l.Vector(at+"0.bias", s.Channels)
			}
		case i == 0:
			l.Exact(convolution)
		default:
			convolution()
		}
		if name := s.convNorm(i); name != "" {
			c.norm = l.Norm(at+name, s.Channels)
		}
		inputs = s.Channels
	}
	n.featureNorm = l.Norm("layer_norm", s.Channels)
	l.Linear(&n.projection, "post_extract_proj", s.Width, s.Channels)
	l.Exact(func() { n.loadPositions(l) })
	for i := range n.layers {
		at, layer := fmt.Sprintf("encoder.layers.%d.", i), &n.layers[i]
		layer.AttentionNorm = l.Norm(at+"self_attn_layer_norm", s.Width)
		l.Attention(&layer.QKV, at+"self_attn", s.Width, s.Heads, true)
		l.Linear(&layer.Out, at+"self_attn.out_proj", s.Width, s.Width)
		layer.InnerNorm = l.Norm(at+"final_layer_norm", s.Width)
		l.Linear(&layer.FC1, at+"fc1", s.Inner, s.Width)
		l.Linear(&layer.FC2, at+"fc2", s.Width, s.Inner)
		if l.Err != nil {
			return l.Err
		}
	}
	n.norm = l.Norm("encoder.layer_norm", s.Width)
	n.loadHead(l)
	return l.Err
}

// loadPositions reads the convolution for the positions. Its weight is normalised for
// each tap (Salimans and Kingma 2016, "Weight normalization"): w_k = g_k·v_k/‖v_k‖.
func (n *Network) loadPositions(l *nn.Loader) {
	s := &n.shape
	size, taps := s.Width/s.PositionGroups, s.PositionTaps // inputs and outputs of a group
	g := l.Vector("encoder.pos_conv.0.weight_g", 1, 1, taps)
	v := l.Vector("encoder.pos_conv.0.weight_v", s.Width, size, taps)
	squares := make([]float64, taps)
	for i, x := range v {
		squares[i%taps] += float64(x) * float64(x)
	}
	scale := make([]float32, taps)
	for k, sum := range squares {
		if sum > 0 {
			scale[k] = float32(float64(g[k]) / math.Sqrt(sum))
		}
	}
	bias := l.Vector("encoder.pos_conv.0.bias", s.Width)
	x := make([]float32, size*taps*size) // [outputs, taps, inputs] of a group
	for group := range n.positions {
		for o := range size {
			for i := range size {
				from := v[((group*size+o)*size+i)*taps:][:taps]
				for k, w := range from {
					x[(o*taps+k)*size+i] = w * scale[k]
				}
			}
		}
		l.Pack(&n.positions[group], x, size, taps*size)
		n.positions[group].Bias = bias[group*size:][:size]
	}
}

func (n *Network) loadHead(l *nn.Loader) {
	s := &n.shape
	if s.WeightedSum {
		n.layerWeights = l.Vector("layer_weights", s.Layers+1)
	}
	width, names := s.Width, []string{"classifier"}
	outputs := []int{s.Classes}
	if s.Projection > 0 {
		names, outputs = []string{"projector", "classifier"}, []int{s.Projection, s.Classes}
	}
	for i, name := range names {
		n.head[i] = dense{l.Vector(name+".weight", outputs[i], width), l.Vector(name+".bias", outputs[i])}
		width = outputs[i]
	}
}

// softmax writes exp(x)/Σ exp(x) to dst.
func softmax(dst []float64, x []float32) {
	top, sum := math.Inf(-1), 0.0
	for _, v := range x {
		top = max(top, float64(v))
	}
	for i, v := range x {
		dst[i] = math.Exp(float64(v) - top)
		sum += dst[i]
	}
	for i := range dst {
		dst[i] /= sum
	}
}

// dense is a linear layer of the head, [outputs, inputs].
type dense struct{ weight, bias []float32 }

// apply returns weight·x + bias, with sums in float64.
func (d dense) apply(x []float64) []float64 {
	y := make([]float64, len(d.bias))
	for o := range y {
		y[o] = float64(d.bias[o])
		for i, w := range d.weight[o*len(x):][:len(x)] {
			y[o] += float64(w) * x[i]
		}
	}
	return y
}
