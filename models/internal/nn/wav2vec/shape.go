package wav2vec

import (
	"fmt"
	"iter"

	"github.com/voicescreen/voicescreen/models/internal/nn/tensorfile"
)

// Shape describes a network.
type Shape struct {
	// The feature extractor: convolutions without padding, each followed by GELU.
	Channels int   // of each convolution
	Kernels  []int // widths, in frames of the layer before
	Strides  []int // in the same unit, as many
	ConvBias bool
	ConvNorm ConvNorm

	Width, Heads, Inner, Layers int
	PositionTaps                int // width of the convolution for the positions, in frames
	PositionGroups              int // of its channels

	// NormFirst means that a layer normalises the inputs of its parts, and that
	// the encoder normalises after its last layer. Otherwise a layer normalises the
	// sums, and the encoder before its first layer.
	NormFirst bool

	// WeightedSum means that the head reads a weighted mean of the input of the
	// first layer and of the outputs of all layers, otherwise the last output.
	WeightedSum bool

	Projection int // width of the layer before the classifier; 0 for none
	Classes    int

	// InputEpsilon is added to the variance of the samples when they are normalised
	// to mean 0 and variance 1; 0 means that they are used as they are.
	InputEpsilon float64
}

// ConvNorm is where the feature extractor normalises.
type ConvNorm uint8

const (
	GroupNorm ConvNorm = 1 + iota // each channel over time, after the first convolution only
	LayerNorm                     // each frame over channels, after every convolution
)

// Bounds of a shape, so that no size of a tensor overflows. Chosen: at least
// twice the largest published network, of 48 layers, width 1,920 and inner width 7,680.
const (
	maxSize   = 1 << 16
	maxInner  = 16 // times the width, which bounds the memory of a layer by its weights; published networks have 4
	maxLayers = 96
	maxConvs  = 16
	maxKernel = 64
	maxGroups = 256
)

// Check returns an error that wraps tensorfile.ErrWeights if a size is invalid.
func (s *Shape) Check() error {
	fail := func(format string, a ...any) error {
		return fmt.Errorf("%w: shape has %s", tensorfile.ErrWeights, fmt.Sprintf(format, a...))
	}
	sizes := []struct {
		name       string
		value, top int
	}{
		{"channels", s.Channels, maxSize}, {"width", s.Width, maxSize}, {"heads", s.Heads, maxSize},
		{"inner width", s.Inner, maxSize}, {"layers", s.Layers, maxLayers}, {"classes", s.Classes, maxSize},
		{"taps of the position", s.PositionTaps, maxSize}, {"groups of the position", s.PositionGroups, maxGroups},
		{"convolutions", len(s.Kernels), maxConvs},
	}
	for i, k := range s.Kernels {
		sizes = append(sizes, struct {
			name       string
			value, top int
		}{fmt.Sprintf("kernel %d", i), k, maxKernel})
	}
	for _, size := range sizes {
		if size.value < 1 || size.value > size.top {
			return fail("%s %d, want 1 to %d", size.name, size.value, size.top)
		}
	}
	if s.Inner > maxInner*s.Width {
		return fail("inner width %d, want at most %d times the width %d", s.Inner, maxInner, s.Width)
	}
	if s.Projection < 0 || s.Projection > maxSize {
		return fail("projection %d, want 0 to %d", s.Projection, maxSize)
	}
	if len(s.Strides) != len(s.Kernels) {
		return fail("%d strides for %d kernels", len(s.Strides), len(s.Kernels))
	}
	for i, stride := range s.Strides {
		if stride < 1 || stride > s.Kernels[i] {
			return fail("stride %d, want 1 to the kernel's %d", stride, s.Kernels[i])
		}
	}
	if s.ConvNorm != GroupNorm && s.ConvNorm != LayerNorm {
		return fail("an unknown normalisation of the convolutions")
	}
	if s.Width%s.Heads != 0 || s.Width%s.PositionGroups != 0 {
		return fail("width %d, want a multiple of %d heads and %d groups", s.Width, s.Heads, s.PositionGroups)
	}
	if !(s.InputEpsilon >= 0 && s.InputEpsilon <= 1) {
		return fail("input epsilon %v, want 0 to 1", s.InputEpsilon)
	}
	return nil
}

// Frames returns the number of frames of so many samples, 0 if they are too few.
func (s *Shape) Frames(samples int) int {
	for i, k := range s.Kernels {
		if samples < k {
			return 0
		}
		samples = (samples-k)/s.Strides[i] + 1
	}
	return samples
}

// Field returns the number of samples that one frame depends on.
func (s *Shape) Field() int {
	n := 1
	for i := len(s.Kernels) - 1; i >= 0; i-- {
		n = (n-1)*s.Strides[i] + s.Kernels[i]
	}
	return n
}

// Tensors yields the name and the dimensions of every tensor in the order in which
// NewNetwork reads them. The names are those of fairseq, and layer_weights,
// projector and classifier for the head.
func (s *Shape) Tensors() iter.Seq2[string, []int] {
	return func(yield func(string, []int) bool) {
		ok := true
		put := func(name string, dims ...int) { ok = ok && yield(name, dims) }
		both := func(name string, outputs int, inputs ...int) {
			put(name+".weight", append([]int{outputs}, inputs...)...)
			put(name+".bias", outputs)
		}
		inputs := 1
		for i, k := range s.Kernels {
			at := fmt.Sprintf("feature_extractor.conv_layers.%d.", i)
			put(at+"0.weight", s.Channels, inputs, k)
			if s.ConvBias {
				put(at+"0.bias", s.Channels)
			}
			if name := s.convNorm(i); name != "" {
				both(at+name, s.Channels)
			}
			inputs = s.Channels
		}
		both("layer_norm", s.Channels)
		both("post_extract_proj", s.Width, s.Channels)
		put("encoder.pos_conv.0.weight_g", 1, 1, s.PositionTaps)
		put("encoder.pos_conv.0.weight_v", s.Width, s.Width/s.PositionGroups, s.PositionTaps)
		put("encoder.pos_conv.0.bias", s.Width)
		for i := 0; ok && i < s.Layers; i++ {
			at := fmt.Sprintf("encoder.layers.%d.", i)
			both(at+"self_attn_layer_norm", s.Width)
			for _, name := range []string{"q_proj", "k_proj", "v_proj", "out_proj"} {
				both(at+"self_attn."+name, s.Width, s.Width)
			}
			both(at+"final_layer_norm", s.Width)
			both(at+"fc1", s.Inner, s.Width)
			both(at+"fc2", s.Width, s.Inner)
		}
		both("encoder.layer_norm", s.Width)
		if s.WeightedSum {
			put("layer_weights", s.Layers+1)
		}
		width := s.Width
		if s.Projection > 0 {
			both("projector", s.Projection, width)
			width = s.Projection
		}
		both("classifier", s.Classes, width)
	}
}

// convNorm returns the name of the normalisation after a convolution, "" for none.
func (s *Shape) convNorm(i int) string {
	switch {
	case s.ConvNorm == LayerNorm:
		return "2.1"
	case i == 0:
		return "2"
	}
	return ""
}
