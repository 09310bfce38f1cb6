package wav2vec

import (
	"fmt"
	"iter"

	"github.com/voicescreen/voicescreen/models/internal/nn"
)

// arrays returns the arrays of a network whose layers are allocated.
func (n *Network) arrays() *nn.Arrays {
	s, a := &n.shape, &nn.Arrays{Int8: n.int8}
	inputs := 1
	for i := range n.convolutions {
		c, at := &n.convolutions[i], fmt.Sprintf("convolution.%d", i)
		switch {
		case i == 0 && s.ConvNorm == GroupNorm:
			a.Vector(at+".weight", &n.first, c.kernel*s.Channels)
		case i == 0:
			a.Exact(at+".weight", &c.linear.Weight, c.kernel*inputs, s.Channels)
		default:
			a.Matrix(at+".weight", &c.linear.Weight, c.kernel*inputs, s.Channels)
		}
		if s.ConvBias {
			a.Vector(at+".bias", &c.linear.Bias, s.Channels)
		}
		if s.convNorm(i) != "" {
			a.Norm(at+".norm", &c.norm, s.Channels)
		}
		inputs = s.Channels
	}
	a.Norm("features.norm", &n.featureNorm, s.Channels)
	a.Linear("projection", &n.projection, s.Channels, s.Width)
	size := s.Width / s.PositionGroups
	for i := range n.positions {
		at, l := fmt.Sprintf("position.%d", i), &n.positions[i]
		a.Exact(at+".weight", &l.Weight, s.PositionTaps*size, size)
		a.Vector(at+".bias", &l.Bias, size)
	}
	for i := range n.layers {
		a.Layer(fmt.Sprintf("layer.%d", i), &n.layers[i], s.Width, s.Inner)
	}
	a.Norm("norm", &n.norm, s.Width)
	if s.WeightedSum {
		a.Vector("layer_weights", &n.layerWeights, s.Layers+1)
	}
	width := s.Width
	for i := range n.head {
		outputs := s.Classes
		if s.Projection > 0 && i == 0 {
			outputs = s.Projection
		}
		a.Vector(fmt.Sprintf("head.%d.weight", i), &n.head[i].weight, width*outputs)
		a.Vector(fmt.Sprintf("head.%d.bias", i), &n.head[i].bias, outputs)
		width = outputs
	}
	return a
}

// Packed yields the name and the dimensions of each array that a network of the shape,
// which must be valid, holds ready for its products, in a fixed order. Their numbers
// are the same on every processor. Int8 means the arrays of Options.Int8.
func (s *Shape) Packed(int8 bool) iter.Seq2[string, []int] {
	n := &Network{shape: *s, int8: int8}
	n.allocate()
	return n.arrays().Dims()
}

// Packed returns the arrays of the network by the names of Shape.Packed. The caller must
// not change them.
func (n *Network) Packed() map[string][]float32 { return n.arrays().Get() }

// FromPacked returns a network of shape whose arrays, by the names of Shape.Packed, are
// those of arrays, with integers if opts.Int8 is set. It keeps and does not change them.
// The error wraps tensorfile.ErrWeights if the shape is invalid or an array is missing, of
// another length or not finite where that is seen. It panics if opts.Samples are too few
// for a frame.
func FromPacked(shape Shape, arrays map[string][]float32, opts Options) (*Network, error) {
	n, err := prepare(shape, opts)
	if err != nil {
		return nil, err
	}
	if err := n.arrays().Set(arrays); err != nil {
		return nil, err
	}
	n.finish()
	return n, nil
}
