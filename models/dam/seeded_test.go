package dam

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/models/internal/nn/seeded"
)

// seed is that of testdata/make.py.
const seed = 20250131

// uniform draws numbers in [−1, 1) as make.py does.
func uniform(dst []float32, key string) { seeded.Uniform(dst, key, seed) }

// draw is make.py's draw.
func draw(dst []float32, key string, dims []int) {
	uniform(dst, key)
	factor, offset := float32(0), float32(0)
	switch {
	case strings.Contains(key, "lora_"):
		factor = 0.0625
	case strings.Contains(key, "layer_norm.weight"):
		factor, offset = 0.25, 1
	case len(dims) == 1:
		factor = 0.125
	case strings.Contains(key, "embed_positions"):
		factor = 0.5
	default:
		inputs := 1
		for _, d := range dims[1:] {
			inputs *= d
		}
		factor = 1.5 * float32(math.Exp2(math.Floor(0.5*math.Log2(3/float64(inputs)))))
	}
	for i, u := range dst {
		dst[i] = offset + float32(u*factor)
	}
}

// readSeeded is a TensorReader of the weights that make.py draws, with the
// adapters folded in. They are drawn again from their keys in its checkpoint.
func readSeeded(dst []float32, name string, dims []int) error {
	if !strings.HasPrefix(name, "backbone.audio.") {
		draw(dst, name, dims)
		return nil
	}
	key := strings.Replace(name, "backbone.audio.backbone.", "backbone.audio.backbone.base_model.model.", 1)
	key = strings.NewReplacer("conv1.", "conv1.modules_to_save.default.", "conv2.", "conv2.modules_to_save.default.").Replace(key)
	first := strings.Contains(key, "layers.0.") && !strings.Contains(key, "_layer_norm")
	if !first && !strings.Contains(key, "q_proj") && !strings.Contains(key, "v_proj") {
		draw(dst, key, dims)
		return nil
	}
	at, kind := key[:strings.LastIndex(key, ".")+1], key[strings.LastIndex(key, ".")+1:]
	draw(dst, at+"base_layer."+kind, dims)
	if kind == "weight" {
		addAdapter(dst, at, dims)
	}
	return nil
}

// addAdapter adds (64/32)·B·A of the layer whose keys start with at.
func addAdapter(w []float32, at string, dims []int) {
	const rank, scale = 32, 64.0 / 32
	a, b := make([]float32, rank*dims[1]), make([]float32, dims[0]*rank)
	draw(a, at+"lora_A.default.weight", []int{rank, dims[1]})
	draw(b, at+"lora_B.default.weight", []int{dims[0], rank})
	for o := range dims[0] {
		for i := range dims[1] {
			var sum float32
			for r := range rank {
				sum += b[o*rank+r] * a[r*dims[1]+i]
			}
			w[o*dims[1]+i] += scale * sum
		}
	}
}

// seededMel is make.py's make_mel.
func seededMel(s Shape, chunk int) []float32 {
	frames := 2 * s.Frames
	slow, fast := make([]float32, s.Mels*(frames/16+1)), make([]float32, s.Mels*frames)
	uniform(slow, fmt.Sprintf("slow.%d", chunk))
	uniform(fast, fmt.Sprintf("fast.%d", chunk))
	mel := make([]float32, s.Mels*frames)
	for b := range s.Mels {
		for t := range frames {
			v := 0.5 + float32(0.75*slow[b*(frames/16+1)+t/16])
			mel[b*frames+t] = v + float32(0.25*fast[b*frames+t])
		}
	}
	return mel
}

// reference is what make.py computed.
type reference struct {
	Mel   [][]float32
	Files map[string]struct {
		Embeddings [][]float32
		Scores     Scores
		Trace      map[string]map[string][]float32
		Folded     map[string][]float32
	}
}

func readJSON(t *testing.T, name string, to any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, to); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
