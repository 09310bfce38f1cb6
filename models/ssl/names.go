package ssl

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/voicescreen/voicescreen/models/internal/nn/wav2vec"
)

// tensors are those of a file: *tensorfile.Checkpoint or *tensorfile.Safetensors.
type tensors interface {
	Names() []string
	Dims(name string) ([]int, bool)
	Read(dst []float32, name string, dims []int) error
}

// Prefixes of the tensors of an AntiDeepfake checkpoint.
const (
	fairseqPrefix = "m_ssl.model."
	fairseqHead   = "proj_fc."
)

// fairseqUnused are tensors of the pre-training that are not part of the detector.
var fairseqUnused = []string{"mask_emb", "quantizer.", "project_q.", "final_proj."}

// fairseqKey returns the key of a tensor of wav2vec.Shape in an AntiDeepfake checkpoint.
func fairseqKey(name string) string {
	if rest, ok := strings.CutPrefix(name, "classifier."); ok {
		return fairseqHead + rest
	}
	return fairseqPrefix + name
}

// fairseqShape returns the shape of the network of an AntiDeepfake checkpoint from the
// dimensions of its tensors. What they do not show, fairseq's published networks have in
// common: the strides; that the layers normalise first where the extractor has layer
// normalisation; and the number of heads, 12 at a width of 768 and 16 at 1,024, 1,280
// and 1,920. Heads states another one; 0 means that.
func fairseqShape(t tensors, heads int) (wav2vec.Shape, error) {
	var s wav2vec.Shape
	dims := func(name string, n int) ([]int, error) {
		key := fairseqKey(name)
		d, ok := t.Dims(key)
		if !ok {
			return nil, fmt.Errorf("%w: %s is missing", ErrWeights, key)
		}
		if len(d) != n {
			return nil, fmt.Errorf("%w: %s is %v, want %d dimensions", ErrWeights, key, d, n)
		}
		return d, nil
	}
	has := func(name string) bool {
		_, ok := t.Dims(fairseqKey(name))
		return ok
	}
	for i := 0; i == 0 || has(fmt.Sprintf("feature_extractor.conv_layers.%d.0.weight", i)); i++ {
		d, err := dims(fmt.Sprintf("feature_extractor.conv_layers.%d.0.weight", i), 3)
		if err != nil {
			return s, err
		}
		s.Channels, s.Kernels = d[0], append(s.Kernels, d[2])
	}
	if !slices.Equal(s.Kernels, publishedKernels) {
		return s, fmt.Errorf("%w: the convolutions have the widths %v, want %v", ErrWeights, s.Kernels, publishedKernels)
	}
	s.Strides = slices.Clone(publishedStrides)
	s.ConvBias, s.ConvNorm = has("feature_extractor.conv_layers.0.0.bias"), wav2vec.GroupNorm
	if has("feature_extractor.conv_layers.0.2.1.weight") {
		s.ConvNorm, s.NormFirst = wav2vec.LayerNorm, true
	}
	projection, err := dims("post_extract_proj.weight", 2)
	if err != nil {
		return s, err
	}
	positions, err := dims("encoder.pos_conv.0.weight_v", 3)
	if err != nil {
		return s, err
	}
	inner, err := dims("encoder.layers.0.fc1.weight", 2)
	if err != nil {
		return s, err
	}
	head, err := dims("classifier.weight", 2)
	if err != nil {
		return s, err
	}
	s.Width, s.PositionTaps, s.Inner, s.Classes, s.InputEpsilon = projection[0], positions[2], inner[0], head[0], clipEpsilon
	if positions[1] > 0 {
		s.PositionGroups = s.Width / positions[1]
	}
	for s.Layers = 1; has(fmt.Sprintf("encoder.layers.%d.fc1.weight", s.Layers)); s.Layers++ {
	}
	if s.Heads = heads; heads == 0 {
		if s.Heads = publishedHeads[s.Width]; s.Heads == 0 {
			return s, fmt.Errorf("%w: no published network has the width %d, so the number of its heads must be stated", ErrWeights, s.Width)
		}
	}
	return s, s.Check()
}

// publishedHeads are the heads of the published networks, by their width.
var publishedHeads = map[int]int{768: 12, 1024: 16, 1280: 16, 1920: 16}

// clipEpsilon is what AntiDeepfake adds to the variance of the samples: that of
// torch.nn.functional.layer_norm.
const clipEpsilon = 1e-5

// huggingFaceNames replaces parts of the names of wav2vec.Shape by those of transformers.
var huggingFaceNames = strings.NewReplacer(
	"post_extract_proj.", "feature_projection.projection.",
	"encoder.pos_conv.0.", "encoder.pos_conv_embed.conv.",
	".self_attn_layer_norm.", ".layer_norm.",
	".self_attn.", ".attention.",
	".fc1.", ".feed_forward.intermediate_dense.",
	".fc2.", ".feed_forward.output_dense.",
)

// convolutionName matches the part of the name of a tensor of a convolution after its
// number: 0 is the convolution, 2 or 2.1 its normalisation.
var convolutionName = regexp.MustCompile(`^(feature_extractor\.conv_layers\.[0-9]+)\.(0|2|2\.1)\.(weight|bias)$`)

// huggingFaceKey returns the key of a tensor of wav2vec.Shape in a file of transformers
// whose network has this prefix. Weights that were normalised by newer versions of
// PyTorch have other names, which t shows.
func huggingFaceKey(t tensors, prefix, name string) string {
	if strings.HasPrefix(name, "classifier.") || strings.HasPrefix(name, "projector.") || name == "layer_weights" {
		return name
	}
	if m := convolutionName.FindStringSubmatch(name); m != nil {
		part := "layer_norm"
		if m[2] == "0" {
			part = "conv"
		}
		return prefix + m[1] + "." + part + "." + m[3]
	}
	if strings.HasPrefix(name, "layer_norm.") {
		return prefix + "feature_projection." + name
	}
	key := prefix + huggingFaceNames.Replace(name)
	for old, parametrized := range map[string]string{".conv.weight_g": ".conv.parametrizations.weight.original0", ".conv.weight_v": ".conv.parametrizations.weight.original1"} {
		if rest, ok := strings.CutSuffix(key, old); ok {
			if _, there := t.Dims(key); !there {
				key = rest + parametrized
			}
		}
	}
	return key
}

// bind returns what reads the tensors of a shape from t by their keys. It checks that
// all are there with their dimensions, and that there is no other, but for those that
// unused names.
func bind(t tensors, s *wav2vec.Shape, key func(name string) string, unused func(key string) bool) (func(dst []float32, name string, dims []int) error, error) {
	known := map[string]bool{}
	for name, want := range s.Tensors() {
		k := key(name)
		got, ok := t.Dims(k)
		if !ok {
			return nil, fmt.Errorf("%w: %s is missing", ErrWeights, k)
		}
		if !slices.Equal(got, want) {
			return nil, fmt.Errorf("%w: %s is %v, want %v", ErrWeights, k, got, want)
		}
		known[k] = true
	}
	for _, k := range t.Names() {
		if !known[k] && !unused(k) {
			return nil, fmt.Errorf("%w: %.200s is unknown", ErrWeights, k)
		}
	}
	return func(dst []float32, name string, dims []int) error { return t.Read(dst, key(name), dims) }, nil
}
