package wav2vec

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/voicescreen/voicescreen/models/internal/nn/seeded"
)

var full = flag.Bool("full", false, "run networks of the published sizes (about a minute and 2 GB)")

// published are networks of the published sizes, as in make.py.
func published() map[string]Shape {
	small := Shape{
		Channels: 512, Kernels: []int{10, 3, 3, 3, 3, 2, 2}, Strides: []int{5, 2, 2, 2, 2, 2, 2}, ConvNorm: GroupNorm,
		Width: 768, Heads: 12, Inner: 3072, Layers: 12, PositionTaps: 128, PositionGroups: 16, Classes: 2, InputEpsilon: 1e-5,
	}
	large := small
	large.ConvNorm, large.ConvBias, large.NormFirst = LayerNorm, true, true
	large.Width, large.Heads, large.Inner, large.Layers = 1024, 16, 4096, 24
	return map[string]Shape{"w2v_small": small, "mms_300m": large}
}

// TestPublishedSizes counts the parameters and frames of the published networks.
func TestPublishedSizes(t *testing.T) {
	// The papers: 95 and 317 million with the quantizer, which is not part of the
	// encoder; in encoders alone 94,371,712 and 315,438,720. The head adds 2·width+2.
	for name, want := range map[string]int{"w2v_small": 94_371_712 - 768 + 2*768 + 2, "mms_300m": 315_438_720 - 1024 + 2*1024 + 2} {
		s, numbers := published()[name], 0
		for _, dims := range s.Tensors() {
			n := 1
			for _, d := range dims {
				n *= d
			}
			numbers += n
		}
		if numbers != want { // without mask_emb, of width numbers
			t.Errorf("%s: got %d parameters, want %d", name, numbers, want)
		}
		for samples, frames := range map[int]int{399: 0, 400: 1, 719: 1, 720: 2, 16000: 49, 208000: 649} {
			if got := s.Frames(samples); got != frames {
				t.Errorf("%s: got %d frames of %d samples, want %d", name, got, samples, frames)
			}
		}
	}
}

// part is every ninth frame, and of it every sixteenth number.
func part(x []float32, width int) []float32 {
	var y []float32
	for at := 0; at < len(x); at += 9 * width {
		for i := 0; i < width; i += 16 {
			y = append(y, x[at+i])
		}
	}
	return y
}

func seededWeights(dst []float32, name string, dims []int) error {
	seeded.Weight(dst, name, dims)
	return nil
}

// TestPublishedSizesAreThoseOfPyTorch needs -full. It compares with full.json: 2 s of
// samples at the published sizes.
func TestPublishedSizesAreThoseOfPyTorch(t *testing.T) {
	type values struct {
		Part    []float64
		Largest float64
	}
	var want map[string]struct {
		Features values
		Hidden   map[int]values
		Logits   []float64
	}
	data, err := os.ReadFile("testdata/full.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	if len(want) != len(published()) {
		t.Fatalf("got %d networks, want %d", len(want), len(published()))
	}
	if !*full {
		return // TestSmallNetworksAreThoseOfPyTorch is the short form
	}
	const length = 32000
	for name, s := range published() {
		n, err := NewNetwork(s, seededWeights, Options{Samples: length})
		if err != nil {
			t.Fatal(err)
		}
		got, steps := trace(t, n, seeded.Samples(length))
		check := func(step string, width int, v values, tolerance float64) {
			x := part(steps[step], width)
			if len(x) != len(v.Part) {
				t.Fatalf("%s %s: got %d numbers, want %d", name, step, len(x), len(v.Part))
			}
			worst := 0.0
			for i, y := range x {
				worst = max(worst, math.Abs(float64(y)-v.Part[i]))
			}
			t.Logf("%s %s: largest difference %.1e of %.3g", name, step, worst/v.Largest, v.Largest)
			if !(worst <= tolerance*v.Largest) {
				t.Errorf("%s %s: a difference of %.1e of %.3g", name, step, worst, v.Largest)
			}
		}
		check("features 0", s.Channels, want[name].Features, featureTolerance)
		for i, v := range want[name].Hidden {
			check(fmt.Sprint("layer ", i), s.Width, v, hiddenTolerance)
		}
		t.Logf("%s: got logits %v, want %v", name, got, want[name].Logits)
		compareLogits(t, got, want[name].Logits)
		if n, err = NewNetwork(s, seededWeights, Options{Samples: length, Int8: true}); err != nil {
			t.Fatal(err)
		}
		if got, err = n.Logits(context.Background(), seeded.Samples(length)); err != nil || !(moved(got, want[name].Logits) <= int8Tolerance) {
			t.Errorf("%s of integers: got logits %v, %v, want %v", name, got, err, want[name].Logits)
		}
		t.Logf("%s of integers: probabilities moved by %.1e", name, moved(got, want[name].Logits))
	}
}
