package ssl

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/models/internal/nn/tensorfile"
	"github.com/voicescreen/voicescreen/models/internal/nn/wav2vec"
)

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// TestBadCheckpoints changes one thing of a checkpoint of AntiDeepfake.
func TestBadCheckpoints(t *testing.T) {
	const layer = "m_ssl.model.encoder.layers.1."
	for name, c := range map[string]struct {
		change func(map[string]tensor)
		opts   Options
		want   error
		text   string
	}{
		"a tensor missing":  {func(w map[string]tensor) { delete(w, layer+"fc2.bias") }, Options{Heads: 3}, ErrWeights, layer + "fc2.bias is missing"},
		"no head":           {func(w map[string]tensor) { delete(w, "proj_fc.weight") }, Options{Heads: 3}, ErrWeights, "proj_fc.weight is missing"},
		"no convolution":    {func(w map[string]tensor) { delete(w, "m_ssl.model.feature_extractor.conv_layers.0.0.weight") }, Options{Heads: 3}, ErrWeights, "conv_layers.0.0.weight is missing"},
		"no positions":      {func(w map[string]tensor) { delete(w, "m_ssl.model.encoder.pos_conv.0.weight_v") }, Options{Heads: 3}, ErrWeights, "weight_v is missing"},
		"an unknown tensor": {func(w map[string]tensor) { w["m_ssl.model.adapter.weight"] = extra(2) }, Options{Heads: 3}, ErrWeights, "adapter.weight is unknown"},
		"an unknown module": {func(w map[string]tensor) { w["other"] = extra(2) }, Options{Heads: 3}, ErrWeights, "other is unknown"},
		"a wrong size":      {func(w map[string]tensor) { w[layer+"fc1.bias"] = extra(41) }, Options{Heads: 3}, ErrWeights, layer + "fc1.bias is [41], want [40]"},
		"wrong dimensions":  {func(w map[string]tensor) { w["proj_fc.weight"] = extra(48) }, Options{Heads: 3}, ErrWeights, "proj_fc.weight is [48], want 2 dimensions"},
		"no groups":         {func(w map[string]tensor) { w["m_ssl.model.encoder.pos_conv.0.weight_v"] = extra(24, 25, 8) }, Options{Heads: 3}, ErrWeights, "groups of the position 0"},
		"three classes":     {func(w map[string]tensor) { w["proj_fc.weight"], w["proj_fc.bias"] = extra(3, 24), extra(3) }, Options{Heads: 3}, ErrWeights, "3 classes, want 2"},
		"other kernels": {func(w map[string]tensor) {
			w["m_ssl.model.feature_extractor.conv_layers.6.0.weight"] = extra(12, 12, 3)
		}, Options{Heads: 3}, ErrWeights, "want [10 3 3 3 3 2 2]"},
		"unknown heads":        {func(map[string]tensor) {}, Options{}, ErrWeights, "width 24, so the number of its heads must be stated"},
		"heads that do not go": {func(map[string]tensor) {}, Options{Heads: 5}, ErrWeights, "want a multiple of 5 heads"},
		"another checksum":     {func(map[string]tensor) {}, Options{Heads: 3, SHA256: "00"}, ErrChecksum, "want 00"},
		"no such class":        {func(map[string]tensor) {}, Options{Heads: 3, Synthetic: []string{"cloned"}}, ErrLabels, `no class "cloned"`},
		"all classes":          {func(map[string]tensor) {}, Options{Heads: 3, Synthetic: []string{"fake", "real"}}, ErrLabels, "some, but not all"},
		"a long name":          {func(map[string]tensor) {}, Options{Heads: 3, Name: strings.Repeat("x", maxText+1)}, ErrFile, "too long"},
	} {
		w := drawn(&layerShape, fairseqKey)
		c.change(w)
		path := write(t, filepath.Join(t.TempDir(), "x.ckpt"), checkpoint(t, w))
		if _, err := Open(path, &c.opts); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want %q", name, err, c.text)
		}
	}
}

// TestBadDirectories changes one value of a directory of Hugging Face.
func TestBadDirectories(t *testing.T) {
	w := drawn(&wav2vec2Shape, func(name string) string { return huggingFaceKey(fake(true), "wav2vec2.", name) })
	good := string(safetensors(t, w))
	more := maps.Clone(w)
	more["wav2vec2.adapter.layers.0.conv.bias"] = extra(3)
	config := func(key string, value any) map[string]any {
		c := configOf(&wav2vec2Shape, "Wav2Vec2ForSequenceClassification", "real", "fake")
		if key != "" {
			c[key] = value
		}
		return c
	}
	for name, c := range map[string]struct {
		config                map[string]any
		preprocessor, weights string
		want                  error
		text                  string
	}{
		"another architecture":  {config("architectures", []string{"WavLMForSequenceClassification"}), "", good, ErrConfig, "WavLMForSequenceClassification"},
		"no architecture":       {config("architectures", nil), "", good, ErrConfig, "architectures"},
		"another type":          {config("hidden_size", "large"), "", good, ErrConfig, "config.json"},
		"another norm":          {config("feat_extract_norm", "batch"), "", good, ErrConfig, "feat_extract_norm"},
		"another activation":    {config("hidden_act", "relu"), "", good, ErrConfig, "hidden_act"},
		"another epsilon":       {config("layer_norm_eps", 1e-12), "", good, ErrConfig, "layer_norm_eps"},
		"adapters":              {config("add_adapter", true), "", good, ErrConfig, "adapters"},
		"attention adapters":    {config("adapter_attn_dim", 16), "", good, ErrConfig, "adapters"},
		"batch norm":            {config("conv_pos_batch_norm", true), "", good, ErrConfig, "conv_pos_batch_norm"},
		"widths that differ":    {config("conv_dim", []int{12, 12, 12, 12, 12, 12, 13}), "", good, ErrConfig, "conv_dim"},
		"kernels missing":       {config("conv_kernel", []int{10}), "", good, ErrConfig, "conv_kernel"},
		"strides missing":       {config("conv_stride", []int{5}), "", good, ErrConfig, "strides"},
		"no projection":         {config("classifier_proj_size", 0), "", good, ErrConfig, "classifier_proj_size"},
		"no layers":             {config("num_hidden_layers", 0), "", good, ErrConfig, "layers 0"},
		"a wide inside":         {config("intermediate_size", 65536), "", good, ErrConfig, "inner width 65536"},
		"too many layers":       {config("num_hidden_layers", 1000000), "", good, ErrConfig, "layers 1000000"},
		"a layer more":          {config("num_hidden_layers", 3), "", good, ErrWeights, "encoder.layers.2"},
		"a layer less":          {config("num_hidden_layers", 1), "", good, ErrWeights, "layer_weights is [3], want [2]"},
		"another width":         {config("hidden_size", 36), "", good, ErrWeights, "want"},
		"another rate":          {config("", nil), `{"sampling_rate":8000}`, good, ErrConfig, "sampling_rate"},
		"two features":          {config("", nil), `{"feature_size":80}`, good, ErrConfig, "feature_size"},
		"a broken preprocessor": {config("", nil), `{`, good, ErrConfig, "preprocessor_config.json"},
		"no labels":             {config("id2label", map[string]string{"0": "LABEL_0", "1": "LABEL_1"}), "", good, ErrLabels, "LABEL_0"},
		"half a label":          {config("id2label", map[string]string{"0": "fake", "1": "LABEL_1"}), "", good, ErrLabels, "state those that are"},
		"one word twice":        {config("id2label", map[string]string{"0": "fake", "1": "fake"}), "", good, ErrLabels, "two classes"},
		"two synthetic":         {config("id2label", map[string]string{"0": "fake", "1": "spoof"}), "", good, ErrLabels, "not all"},
		"a label missing":       {config("id2label", map[string]string{"0": "fake", "7": "real"}), "", good, ErrConfig, "class 1"},
		"one label":             {config("id2label", map[string]string{"0": "fake"}), "", good, ErrWeights, "classifier"},
		"a label more":          {config("id2label", map[string]string{"0": "fake", "1": "real", "2": "human"}), "", good, ErrWeights, "classifier"},
		"no weights":            {config("", nil), "", "", os.ErrNotExist, "model.safetensors"},
		"broken weights":        {config("", nil), "", good[:len(good)-1], ErrSafetensors, ""},
		"an unknown tensor":     {config("", nil), "", string(safetensors(t, more)), ErrWeights, "adapter.layers.0.conv.bias is unknown"},
	} {
		if _, err := Open(directory(t, c.config, c.preprocessor, c.weights, ""), nil); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v, want %q", name, err, c.text)
		}
	}
	if _, err := Open(directory(t, config("", nil), "", good, ""), nil); err != nil {
		t.Errorf("unchanged: got %v", err)
	}
}

// TestBadFiles opens what is no model, and converted models with a byte changed.
func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	for name, b := range map[string]string{"empty": "", "text": "a model\n", "zip": zipMagic, "magic": fileMagic, "dam": "voicescreen-dam\x01 and more"} {
		path := write(t, filepath.Join(dir, name), []byte(b))
		if is, err := Is(path); err != nil || is != (name == "magic") {
			t.Errorf("%s: Is: got %v, %v", name, is, err)
		}
		if _, err := Open(path, nil); !errors.Is(err, ErrCheckpoint) && !errors.Is(err, ErrFile) {
			t.Errorf("%s: got %v, want an error of the package", name, err)
		}
	}
	if is, err := Is(dir); is || err != nil {
		t.Errorf("a directory: Is: got %v, %v", is, err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "none")} {
		if _, err := Open(path, nil); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got %v, want that a file does not exist", err)
		}
	}
	if _, err := Is(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Is: got %v, want that the file does not exist", err)
	}

	checkDamaged(t, dir, false)
	checkDamaged(t, dir, true)
}

// checkDamaged changes a converted model, one of integers if int8 is set.
func checkDamaged(t *testing.T, dir string, int8 bool) {
	t.Helper()
	k := kinds(t)["wav2vec2"]
	k.opts.Int8 = int8
	first, err := Open(k.path, &k.opts)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := first.Write(&b); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	same, err := fromBytes(whole, &Options{}, contents.checkSealed)
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, filepath.Join(dir, "whole.model"), whole)
	if _, err := Open(path, &Options{SHA256: strings.Repeat("0", 64)}); !errors.Is(err, ErrChecksum) {
		t.Errorf("got %v, want %v", err, ErrChecksum)
	}
	m, err := Open(path, &Options{Synthetic: []string{"Bona-Fide"}, Licence: "mine", Name: "other"})
	if err != nil || !slices.Equal(m.Card().Synthetic, []bool{true, false}) || m.Info().Licence != "mine" || m.Info().Name != "other" {
		t.Errorf("got %+v, %v, want what the options state", m.Card(), err)
	}
	for at := 0; at < len(whole); at += len(whole)/1000 + 1 {
		changed := slices.Clone(whole)
		changed[at] ^= 0x20
		got, err := fromBytes(changed, &Options{}, contents.checkSealed)
		if err != nil && !errors.Is(err, ErrFile) && !errors.Is(err, ErrWeights) {
			t.Errorf("byte %d changed: got %v, want an error of the package", at, err)
		}
		if err == nil && (!reflect.DeepEqual(got.Info(), same.Info()) || !reflect.DeepEqual(got.Card(), same.Card())) { // JSON ignores the case of names
			t.Errorf("byte %d changed: got %+v, want an error or the same", at, got.Card())
		}
	}
	for _, n := range []int{0, 15, 20, 1000, len(whole) - 1} {
		if _, err := fromBytes(whole[:n], &Options{}, contents.checkSealed); !errors.Is(err, ErrFile) && !errors.Is(err, ErrWeights) {
			t.Errorf("%d bytes: got %v, want an error of the package", n, err)
		}
	}
}

// TestSynthetic reads the names of classes.
func TestSynthetic(t *testing.T) {
	for _, c := range []struct {
		labels, stated []string
		want           []bool // nil for an error
	}{
		{[]string{"Real", "Fake"}, nil, []bool{false, true}},
		{[]string{"spoof", "bona-fide"}, nil, []bool{true, false}},
		{[]string{"AIVoice", "HumanVoice"}, nil, []bool{true, false}},
		{[]string{"human", "ai-generated", "Deep fake"}, nil, []bool{false, true, true}},
		{[]string{"LABEL_0", "LABEL_1"}, nil, nil},
		{[]string{"LABEL_0", "LABEL_1"}, []string{"LABEL_1"}, []bool{false, true}},
		{[]string{"fake", "real"}, []string{"real"}, []bool{false, true}}, // as stated
		{[]string{"fake", "unsure", "real"}, nil, nil},
		{[]string{"not fake", "fake"}, nil, nil},
		{[]string{"fake"}, nil, nil},
		{nil, nil, nil},
		{[]string{"a", "b"}, []string{"A"}, nil},
	} {
		got, err := synthetic(c.labels, c.stated)
		if c.want == nil && !errors.Is(err, ErrLabels) || c.want != nil && (err != nil || !slices.Equal(got, c.want)) {
			t.Errorf("%q, stated %q: got %v, %v, want %v", c.labels, c.stated, got, err, c.want)
		}
	}
}

func TestNonCommercial(t *testing.T) {
	for licence, want := range map[string]bool{
		"CC BY-NC-SA 4.0": true, "cc-by-nc-4.0": true, "Non-Commercial use": true, "noncommercial": true,
		"apache-2.0": false, "MIT": false, "": false, "CC BY-SA 4.0": false, "NCSA": false, "commercial": false,
	} {
		if got := NonCommercial(licence); got != want {
			t.Errorf("%q: got %v, want %v", licence, got, want)
		}
	}
}

// TestNumberOfTensorsHasRoom opens files with the tensors of the deepest published
// network, and of one with as many layers as a shape may have.
func TestNumberOfTensorsHasRoom(t *testing.T) {
	s := layerShape
	s.Channels, s.Width, s.Heads, s.Inner, s.PositionGroups, s.PositionTaps, s.Layers = 2, 4, 2, 4, 2, 3, 48
	w := drawn(&s, fairseqKey)
	for i := range 20 {
		w["m_ssl.model.quantizer."+strings.Repeat("x", i)] = extra(1)
	}
	m, err := Open(write(t, filepath.Join(t.TempDir(), "deep.ckpt"), checkpoint(t, w)), &Options{Heads: 2, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	converted(t, m)
	s.Projection, s.Layers = 3, 96
	deep := safetensors(t, drawn(&s, func(name string) string { return huggingFaceKey(fake(true), "hubert.", name) }))
	if m, err = Open(directory(t, configOf(&s, "HubertForSequenceClassification", "real", "fake"), "", string(deep), ""), nil); err != nil {
		t.Fatal(err)
	}
	converted(t, m)
}

// FuzzConfig reads config.json and preprocessor_config.json.
func FuzzConfig(f *testing.F) {
	f.Add([]byte(`{"architectures":["HubertForSequenceClassification"],"id2label":{"0":"real","1":"fake"},"do_stable_layer_norm":true}`), []byte(`{"do_normalize":false}`))
	f.Add([]byte(`{"architectures":["Wav2Vec2ForSequenceClassification"],"conv_dim":[4,4],"conv_kernel":[3,2],"conv_stride":[2,1],"hidden_size":8}`), []byte(`{"sampling_rate":16000}`))
	f.Fuzz(func(t *testing.T, text, preprocess []byte) {
		c, p := defaultConfig(), preprocessor{}
		var shape wav2vec.Shape
		var labels []string
		var err error
		cost.Check(t, len(text)+len(preprocess), func() {
			err = errors.Join(decodeJSON(bytes.NewReader(text), "config.json", &c), decodeJSON(bytes.NewReader(preprocess), "preprocessor_config.json", &p))
			c.complete()
			if err == nil {
				shape, err = c.shape(&p)
			}
			if err == nil {
				labels, err = c.labels()
			}
		})
		if err != nil {
			if !errors.Is(err, ErrConfig) {
				t.Fatalf("got %v, want %v", err, ErrConfig)
			}
			return
		}
		if shape.Check() != nil || len(labels) != shape.Classes {
			t.Fatalf("got the shape %+v and the labels %q", shape, labels)
		}
		if is, err := synthetic(labels, nil); err == nil && (len(is) != len(labels) || !slices.Contains(is, true) || !slices.Contains(is, false)) {
			t.Fatalf("got %v for %q", is, labels)
		}
	})
}

// FuzzConverted reads a converted model whose header needs no checksum.
func FuzzConverted(f *testing.F) {
	var b bytes.Buffer
	if err := open1(f, "fairseq-group").Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes()[:9000])
	f.Add(b.Bytes()[:1000])
	k := kinds(f)["fairseq-layer"]
	k.opts.Int8 = true
	m, err := Open(k.path, &k.opts)
	if err != nil {
		f.Fatal(err)
	}
	b.Reset()
	if err := m.Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		var err error
		cost.Check(t, len(b), func() { _, err = fromBytes(b, &Options{Threads: 1}, contents.check) })
		if err != nil && !errors.Is(err, ErrFile) && !errors.Is(err, ErrWeights) {
			t.Fatalf("got %v, want an error of the package", err)
		}
	})
}

// TestHeadersCostInProportion opens headers and configurations of full size.
func TestHeadersCostInProportion(t *testing.T) {
	n := min(cost.Size, tensorfile.MaxHeader) - 1000
	header := func(begin, unit string) []byte {
		text := begin + strings.Repeat(unit, (n-len(begin))/len(unit)) + "0]}"
		return append(binary.LittleEndian.AppendUint32([]byte(fileMagic), uint32(len(text))), text...)
	}
	const shape = `{"shape":{"network":{"Channels":1,"Kernels":[60,60],"Strides":[60,2],"ConvNorm":1,"Width":256,"Heads":1,"Inner":1,"Layers":96,"PositionTaps":65536,"PositionGroups":256,"Classes":2},"card":{"name":"x","labels":[`
	text := shape + `"a","b"],"synthetic":[true,false]}},"tensors":[]}`
	large := append(binary.LittleEndian.AppendUint32([]byte(fileMagic), uint32(len(text))), text...)
	for name, b := range map[string][]byte{
		"labels":          header(shape, `"",`),
		"kernels":         header(`{"shape":{"network":{"Kernels":[`, "1,"),
		"tensors":         header(shape+`"a","b"]}},"tensors":[`, `{"name":"","dims":[],"crc32c":0},`),
		"names":           header(`{`, `"":0,`),
		"a large network": large,
	} {
		t.Run(name, func(t *testing.T) {
			cost.Check(t, len(b), func() {
				_, err := fromBytes(b, &Options{}, contents.check)
				if !errors.Is(err, ErrFile) && !errors.Is(err, ErrWeights) {
					t.Errorf("got %v, want an error of the package", err)
				}
				if name == "a large network" && !strings.Contains(err.Error(), "is missing") {
					t.Errorf("got %v, want that its first tensor is missing", err)
				}
			})
		})
	}
	labels := []byte(`{"architectures":["HubertForSequenceClassification"],"id2label":{"0":"a"` + strings.Repeat(`,"":""`, maxConfig/7) + `}}`)
	cost.Check(t, len(labels), func() {
		c := defaultConfig()
		if err := decodeJSON(bytes.NewReader(labels), "config.json", &c); err == nil {
			c.complete()
			if _, err = c.labels(); err == nil {
				t.Error("got no error")
			}
		}
	})
}
