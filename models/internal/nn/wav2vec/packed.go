package wav2vec

import (
	"fmt"
	"iter"
	"slices"

	"github.com/voicescreen/voicescreen/models/internal/nn"
	"github.com/voicescreen/voicescreen/models/internal/nn/gemm"
	"github.com/voicescreen/voicescreen/models/internal/nn/tensorfile"
)

// array is what a network holds ready for its products: a vector, or a packed matrix of
// rows × cols.
type array struct {
	name       string
	vector     *[]float32
	matrix     *gemm.Matrix
	rows, cols int
}

func (a *array) len() int {
	if a.matrix != nil {
		return gemm.PackedLen(a.rows, a.cols)
	}
	return a.cols
}

// arrays yields the arrays of a network whose layers are allocated.
func (n *Network) arrays() iter.Seq[array] {
	s := &n.shape
	return func(yield func(array) bool) {
		ok := true
		vector := func(name string, x *[]float32, size int) {
			ok = ok && yield(array{name: name, vector: x, cols: size})
		}
		matrix := func(name string, m *gemm.Matrix, inputs, outputs int) {
			ok = ok && yield(array{name: name, matrix: m, rows: inputs, cols: outputs})
		}
		linear := func(name string, l *nn.Linear, inputs, outputs int) {
			matrix(name+".weight", &l.Weight, inputs, outputs)
			vector(name+".bias", &l.Bias, outputs)
		}
		norm := func(name string, x *nn.Norm, width int) {
			vector(name+".weight", &x.Weight, width)
			vector(name+".bias", &x.Bias, width)
		}
		inputs := 1
		for i := range n.convolutions {
			c, at := &n.convolutions[i], fmt.Sprintf("convolution.%d", i)
			if i == 0 && s.ConvNorm == GroupNorm {
				vector(at+".weight", &n.first, c.kernel*s.Channels)
			} else {
				matrix(at+".weight", &c.linear.Weight, c.kernel*inputs, s.Channels)
			}
			if s.ConvBias {
				vector(at+".bias", &c.linear.Bias, s.Channels)
			}
			if s.convNorm(i) != "" {
				norm(at+".norm", &c.norm, s.Channels)
			}
			inputs = s.Channels
		}
		norm("features.norm", &n.featureNorm, s.Channels)
		linear("projection", &n.projection, s.Channels, s.Width)
		size := s.Width / s.PositionGroups
		for i := range n.positions {
			linear(fmt.Sprintf("position.%d", i), &n.positions[i], s.PositionTaps*size, size)
		}
		for i := range n.layers {
			l, at := &n.layers[i], fmt.Sprintf("layer.%d", i)
			norm(at+".attention.norm", &l.AttentionNorm, s.Width)
			linear(at+".qkv", &l.QKV, s.Width, 3*s.Width)
			linear(at+".out", &l.Out, s.Width, s.Width)
			norm(at+".inner.norm", &l.InnerNorm, s.Width)
			linear(at+".fc1", &l.FC1, s.Width, s.Inner)
			linear(at+".fc2", &l.FC2, s.Inner, s.Width)
		}
		norm("norm", &n.norm, s.Width)
		if s.WeightedSum {
			vector("layer_weights", &n.layerWeights, s.Layers+1)
		}
		width := s.Width
		for i := range n.head {
			outputs := s.Classes
			if s.Projection > 0 && i == 0 {
				outputs = s.Projection
			}
			vector(fmt.Sprintf("head.%d.weight", i), &n.head[i].weight, width*outputs)
			vector(fmt.Sprintf("head.%d.bias", i), &n.head[i].bias, outputs)
			width = outputs
		}
	}
}

// Packed yields the name and the dimensions of each array that a network of the shape,
// which must be valid, holds ready for its products, in a fixed order. Their numbers
// are the same on every processor.
func (s *Shape) Packed() iter.Seq2[string, []int] {
	return func(yield func(string, []int) bool) {
		n := &Network{shape: *s}
		n.allocate()
		for a := range n.arrays() {
			if !yield(a.name, []int{a.len()}) {
				return
			}
		}
	}
}

// Packed returns the arrays of the network by the names of Shape.Packed. The caller must
// not change them.
func (n *Network) Packed() map[string][]float32 {
	m := map[string][]float32{}
	for a := range n.arrays() {
		if a.matrix != nil {
			m[a.name] = a.matrix.Packed()
		} else {
			m[a.name] = *a.vector
		}
	}
	return m
}

// FromPacked returns a network of shape whose arrays, by the names of Shape.Packed, are
// those of arrays. It keeps and does not change them. The error wraps
// tensorfile.ErrWeights if the shape is invalid or an array is missing or of another
// length. It panics if opts.Samples are too few for a frame.
func FromPacked(shape Shape, arrays map[string][]float32, opts Options) (*Network, error) {
	n, err := prepare(shape, opts)
	if err != nil {
		return nil, err
	}
	for a := range n.arrays() {
		x := arrays[a.name]
		if len(x) != a.len() {
			return nil, fmt.Errorf("%w: %s has %d numbers, want %d", tensorfile.ErrWeights, a.name, len(x), a.len())
		}
		if a.matrix != nil {
			a.matrix.SetPacked(x, a.rows, a.cols)
		} else {
			*a.vector = slices.Clip(x)
		}
	}
	n.finish()
	return n, nil
}
