package ssl

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/voicescreen/voicescreen/models/internal/nn"
	"github.com/voicescreen/voicescreen/models/internal/nn/wav2vec"
)

// maxConfig is the size of the longest JSON file that is read, in bytes. Chosen: those
// of published models have 2,000 to 5,000.
const maxConfig = 64 << 10

// maxClasses bounds the classes of a model. Chosen: detectors have 2 to about 20.
const maxClasses = 1000

// config is config.json of Hugging Face, as far as it is used. A value that is missing
// has the default of transformers.Wav2Vec2Config and HubertConfig.
type config struct {
	Architectures []string `json:"architectures"`
	NameOrPath    string   `json:"_name_or_path"`

	ConvDim        []int  `json:"conv_dim"`
	ConvKernel     []int  `json:"conv_kernel"`
	ConvStride     []int  `json:"conv_stride"`
	ConvBias       bool   `json:"conv_bias"`
	FeatNorm       string `json:"feat_extract_norm"`
	FeatActivation string `json:"feat_extract_activation"`
	FeatProjNorm   bool   `json:"feat_proj_layer_norm"`

	Hidden       int     `json:"hidden_size"`
	Heads        int     `json:"num_attention_heads"`
	Layers       int     `json:"num_hidden_layers"`
	Intermediate int     `json:"intermediate_size"`
	Activation   string  `json:"hidden_act"`
	Epsilon      float64 `json:"layer_norm_eps"`
	Stable       bool    `json:"do_stable_layer_norm"`

	PosTaps   int  `json:"num_conv_pos_embeddings"`
	PosGroups int  `json:"num_conv_pos_embedding_groups"`
	PosBatch  bool `json:"conv_pos_batch_norm"`

	WeightedSum bool              `json:"use_weighted_layer_sum"`
	Projection  int               `json:"classifier_proj_size"`
	Labels      map[string]string `json:"id2label"`
	AddAdapter  bool              `json:"add_adapter"`
	AdapterDim  *int              `json:"adapter_attn_dim"`
	DoNormalize *bool             `json:"do_normalize"`
}

// preprocessor is preprocessor_config.json, as far as it is used.
type preprocessor struct {
	DoNormalize  *bool `json:"do_normalize"`
	SamplingRate *int  `json:"sampling_rate"`
	FeatureSize  *int  `json:"feature_size"`
}

func defaultConfig() config {
	return config{
		ConvDim: []int{512, 512, 512, 512, 512, 512, 512}, ConvKernel: slices.Clone(publishedKernels), ConvStride: slices.Clone(publishedStrides),
		FeatNorm: "group", FeatActivation: "gelu", FeatProjNorm: true,
		Hidden: 768, Heads: 12, Layers: 12, Intermediate: 3072, Activation: "gelu", Epsilon: 1e-5,
		PosTaps: 128, PosGroups: 16, Projection: 256,
	}
}

// complete sets the labels that are there by default.
func (c *config) complete() {
	if c.Labels == nil {
		c.Labels = map[string]string{"0": "LABEL_0", "1": "LABEL_1"}
	}
}

// architectures are those that are supported, with the prefix of their tensors.
var architectures = map[string]string{
	"Wav2Vec2ForSequenceClassification": "wav2vec2.",
	"HubertForSequenceClassification":   "hubert.",
}

// publishedKernels and publishedStrides are those of every published network.
var (
	publishedKernels = []int{10, 3, 3, 3, 3, 2, 2}
	publishedStrides = []int{5, 2, 2, 2, 2, 2, 2}
)

// normalizeEpsilon is what Wav2Vec2FeatureExtractor adds to the variance of the samples.
const normalizeEpsilon = 1e-7

// decodeJSON reads a JSON value. Its errors wrap ErrConfig.
func decodeJSON(r io.Reader, name string, v any) error {
	b, err := io.ReadAll(io.LimitReader(r, maxConfig+1))
	if err != nil {
		return fmt.Errorf("ssl: read %s: %w", name, err)
	}
	if len(b) > maxConfig {
		return fmt.Errorf("%w: %s has more than %d bytes", ErrConfig, name, maxConfig)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrConfig, name, err)
	}
	return nil
}

// readConfig reads the configuration of a directory, and returns the network's shape,
// the prefix of its tensors and its classes.
func readConfig(dir string) (c config, s wav2vec.Shape, err error) {
	f, err := os.Open(filepath.Join(dir, "config.json"))
	if err != nil {
		return c, s, fmt.Errorf("ssl: %w", err)
	}
	defer f.Close()
	c = defaultConfig()
	if err := decodeJSON(f, "config.json", &c); err != nil {
		return c, s, err
	}
	c.complete()
	var p preprocessor
	switch g, err := os.Open(filepath.Join(dir, "preprocessor_config.json")); {
	case err == nil:
		defer g.Close()
		if err := decodeJSON(g, "preprocessor_config.json", &p); err != nil {
			return c, s, err
		}
	case !os.IsNotExist(err):
		return c, s, fmt.Errorf("ssl: %w", err)
	}
	s, err = c.shape(&p)
	return c, s, err
}

// shape returns the shape of the network that the configuration describes.
func (c *config) shape(p *preprocessor) (wav2vec.Shape, error) {
	fail := func(format string, a ...any) (wav2vec.Shape, error) {
		return wav2vec.Shape{}, fmt.Errorf("%w: %s", ErrConfig, fmt.Sprintf(format, a...))
	}
	norms := map[string]wav2vec.ConvNorm{"group": wav2vec.GroupNorm, "layer": wav2vec.LayerNorm}
	switch {
	case len(c.Architectures) != 1 || architectures[c.Architectures[0]] == "":
		return fail("architectures are %.100q, want Wav2Vec2ForSequenceClassification or HubertForSequenceClassification", c.Architectures)
	case norms[c.FeatNorm] == 0:
		return fail("feat_extract_norm is %.40q, want group or layer", c.FeatNorm)
	case c.FeatActivation != "gelu" || c.Activation != "gelu":
		return fail("feat_extract_activation and hidden_act are %.40q and %.40q, want gelu", c.FeatActivation, c.Activation)
	case math.Abs(c.Epsilon-nn.Epsilon) > nn.Epsilon*1e-6:
		return fail("layer_norm_eps is %v, want %v", c.Epsilon, nn.Epsilon)
	case c.AddAdapter || c.AdapterDim != nil:
		return fail("add_adapter or adapter_attn_dim is set, and adapters are not supported")
	case !c.FeatProjNorm || c.PosBatch:
		return fail("feat_proj_layer_norm is false or conv_pos_batch_norm is true, which is not supported")
	case len(c.ConvDim) == 0 || slices.ContainsFunc(c.ConvDim, func(d int) bool { return d != c.ConvDim[0] }):
		return fail("conv_dim is %.100s, want equal numbers", fmt.Sprint(c.ConvDim))
	case len(c.ConvDim) != len(c.ConvKernel):
		return fail("%d values in conv_dim and %d in conv_kernel", len(c.ConvDim), len(c.ConvKernel))
	case p.SamplingRate != nil && *p.SamplingRate != sampleRate:
		return fail("sampling_rate is %d, want %d", *p.SamplingRate, sampleRate)
	case p.FeatureSize != nil && *p.FeatureSize != 1:
		return fail("feature_size is %d, want 1", *p.FeatureSize)
	case c.Projection < 1:
		return fail("classifier_proj_size is %d, want 1 or more", c.Projection)
	}
	s := wav2vec.Shape{
		Channels: c.ConvDim[0], Kernels: c.ConvKernel, Strides: c.ConvStride, ConvBias: c.ConvBias, ConvNorm: norms[c.FeatNorm],
		Width: c.Hidden, Heads: c.Heads, Inner: c.Intermediate, Layers: c.Layers, PositionTaps: c.PosTaps, PositionGroups: c.PosGroups,
		NormFirst: c.Stable, WeightedSum: c.WeightedSum, Projection: c.Projection, Classes: len(c.Labels), InputEpsilon: normalizeEpsilon,
	}
	normalize := p.DoNormalize
	if normalize == nil {
		normalize = c.DoNormalize
	}
	if normalize != nil && !*normalize { // transformers normalises by default
		s.InputEpsilon = 0
	}
	if err := s.Check(); err != nil {
		return fail("%v", err)
	}
	return s, nil
}

// labels returns the names of the classes in their order.
func (c *config) labels() ([]string, error) {
	if len(c.Labels) > maxClasses {
		return nil, fmt.Errorf("%w: id2label has %d classes, want at most %d", ErrConfig, len(c.Labels), maxClasses)
	}
	names := make([]string, len(c.Labels))
	for i := range names {
		name, ok := c.Labels[strconv.Itoa(i)]
		if !ok || name == "" {
			return nil, fmt.Errorf("%w: id2label has no name for class %d of %d", ErrConfig, i, len(names))
		}
		names[i] = name
	}
	return names, nil
}
