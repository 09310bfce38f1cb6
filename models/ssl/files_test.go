package ssl

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/models/internal/nn/seeded"
	"github.com/voicescreen/voicescreen/models/internal/nn/wav2vec"
)

// tensor is an array of numbers in row-major order.
type tensor struct {
	dims []int
	data []float32
}

// drawn returns the tensors of a shape, drawn from a seed, under their keys in a file.
func drawn(s *wav2vec.Shape, key func(string) string) map[string]tensor {
	w := map[string]tensor{}
	for name, dims := range s.Tensors() {
		n := 1
		for _, d := range dims {
			n *= d
		}
		x := tensor{slices.Clone(dims), make([]float32, n)}
		seeded.Weight(x.data, name, dims)
		w[key(name)] = x
	}
	return w
}

// checkpoint returns tensors as torch.save writes a state dict: a zip file of a pickle of
// protocol 2 and of a file for each tensor.
func checkpoint(t testing.TB, tensors map[string]tensor) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(name string, data []byte) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: "archive/" + name, Method: zip.Store})
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	p := []byte("\x80\x02}(")
	text := func(s string) {
		p = append(binary.LittleEndian.AppendUint32(append(p, 'X'), uint32(len(s))), s...)
	}
	number := func(n int) { p = binary.LittleEndian.AppendUint32(append(p, 'J'), uint32(n)) }
	for i, key := range slices.Sorted(maps.Keys(tensors)) {
		x := tensors[key]
		text(key)
		p = append(p, "ctorch._utils\n_rebuild_tensor_v2\n(("...)
		text("storage")
		p = append(p, "ctorch\nFloatStorage\n"...)
		text(fmt.Sprint(i))
		text("cpu")
		number(len(x.data))
		p = append(p, "tQ"...)
		number(0)
		p = append(p, '(')
		for _, d := range x.dims {
			number(d)
		}
		p = append(p, "t("...)
		stride := len(x.data)
		for _, d := range x.dims {
			stride /= max(d, 1)
			number(stride)
		}
		p = append(p, "t\x89ccollections\nOrderedDict\n)RtR"...)
		add(fmt.Sprint("data/", i), bytesOf(x.data))
	}
	add("data.pkl", append(p, "u."...))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func bytesOf(x []float32) []byte {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// safetensors returns tensors as a safetensors file.
func safetensors(t testing.TB, tensors map[string]tensor) []byte {
	t.Helper()
	head, data := map[string]any{"__metadata__": map[string]string{"format": "pt"}}, []byte{}
	for _, key := range slices.Sorted(maps.Keys(tensors)) {
		x, from := tensors[key], len(data)
		data = append(data, bytesOf(x.data)...)
		head[key] = map[string]any{"dtype": "F32", "shape": x.dims, "data_offsets": []int{from, len(data)}}
	}
	text, err := json.Marshal(head)
	if err != nil {
		t.Fatal(err)
	}
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), data...)
}

// The shapes of the tests, as in testdata/make.py.
var (
	groupShape = wav2vec.Shape{
		Channels: 12, Kernels: publishedKernels, Strides: publishedStrides, ConvNorm: wav2vec.GroupNorm,
		Width: 24, Heads: 3, Inner: 40, Layers: 2, PositionTaps: 8, PositionGroups: 4, Classes: 2, InputEpsilon: clipEpsilon,
	}
	layerShape = func() wav2vec.Shape {
		s := groupShape
		s.ConvNorm, s.ConvBias, s.NormFirst = wav2vec.LayerNorm, true, true
		return s
	}()
	wav2vec2Shape = func() wav2vec.Shape {
		s := groupShape
		s.WeightedSum, s.Projection, s.InputEpsilon = true, 10, normalizeEpsilon
		return s
	}()
	hubertShape = func() wav2vec.Shape {
		s := layerShape
		s.Projection, s.Classes, s.InputEpsilon = 7, 3, 0
		return s
	}()
)

// configOf returns config.json of a shape.
func configOf(s *wav2vec.Shape, architecture string, labels ...string) map[string]any {
	names := map[string]string{}
	for i, l := range labels {
		names[fmt.Sprint(i)] = l
	}
	norm := "group"
	if s.ConvNorm == wav2vec.LayerNorm {
		norm = "layer"
	}
	return map[string]any{
		"architectures": []string{architecture}, "model_type": "wav2vec2", "_name_or_path": "someone/base",
		"conv_dim": slices.Repeat([]int{s.Channels}, len(s.Kernels)), "conv_kernel": s.Kernels, "conv_stride": s.Strides, "conv_bias": s.ConvBias,
		"feat_extract_norm": norm, "hidden_size": s.Width, "num_attention_heads": s.Heads, "num_hidden_layers": s.Layers, "intermediate_size": s.Inner,
		"num_conv_pos_embeddings": s.PositionTaps, "num_conv_pos_embedding_groups": s.PositionGroups, "do_stable_layer_norm": s.NormFirst,
		"use_weighted_layer_sum": s.WeightedSum, "classifier_proj_size": s.Projection, "id2label": names, "mask_time_prob": 0.05,
	}
}

// directory writes a directory of Hugging Face.
func directory(t testing.TB, config map[string]any, preprocessor, weights, readme string) string {
	t.Helper()
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "detector")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"config.json": string(text), "preprocessor_config.json": preprocessor, "model.safetensors": weights, "README.md": readme} {
		if content != "" {
			write(t, filepath.Join(dir, name), []byte(content))
		}
	}
	return dir
}

func write(t testing.TB, path string, b []byte) string {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func extra(dims ...int) tensor {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return tensor{dims, make([]float32, n)}
}

// kinds writes a model of each kind and returns the paths, with the options to open it.
func kinds(t testing.TB) map[string]struct {
	path string
	opts Options
} {
	t.Helper()
	out := map[string]struct {
		path string
		opts Options
	}{}
	put := func(name, path string, o Options) {
		o.Threads = 1
		out[name] = struct {
			path string
			opts Options
		}{path, o}
	}
	for name, s := range map[string]wav2vec.Shape{"fairseq-group": groupShape, "fairseq-layer": layerShape} {
		w := drawn(&s, fairseqKey)
		w["m_ssl.model.mask_emb"], w["m_ssl.model.quantizer.vars"] = extra(24), extra(1, 4, 2)
		put(name, write(t, filepath.Join(t.TempDir(), "mms_300m.ckpt"), checkpoint(t, w)), Options{Heads: 3})
	}
	w := drawn(&wav2vec2Shape, func(name string) string { return huggingFaceKey(fake(false), "wav2vec2.", name) })
	w["wav2vec2.masked_spec_embed"] = extra(24)
	put("wav2vec2", directory(t, configOf(&wav2vec2Shape, "Wav2Vec2ForSequenceClassification", "Bona-Fide", "AI generated"), `{"do_normalize":true,"sampling_rate":16000}`,
		string(safetensors(t, w)), "---\ntags: [x]\nlicense: apache-2.0\n---\nlicense: other\n"), Options{})
	put("hubert", directory(t, configOf(&hubertShape, "HubertForSequenceClassification", "a", "b", "c"), `{"do_normalize":false}`,
		string(safetensors(t, drawn(&hubertShape, func(name string) string { return huggingFaceKey(fake(true), "hubert.", name) }))), ""), Options{Synthetic: []string{"c", "b"}})
	put("tiny.ckpt", "testdata/tiny.ckpt", Options{Heads: 2})
	put("detector", "testdata/detector", Options{})
	return out
}

// fake has every tensor, or none, so that huggingFaceKey gives the names of normalised
// weights before or since PyTorch 2.1.
type fake bool

func (fake) Names() []string                        { return nil }
func (fake) Read([]float32, string, []int) error    { return nil }
func (f fake) Dims(string) (dims []int, there bool) { return nil, bool(f) }
