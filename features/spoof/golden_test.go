package spoof

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/internal/proof/fused"
)

var update = flag.Bool("update", false, "write the golden files again")

// goldenFeatures measures two recordings. A feature that is NaN is nil.
func goldenFeatures(t *testing.T) map[string]map[string]*float64 {
	got := map[string]map[string]*float64{}
	for _, name := range []string{"spoken_en.wav", "voice_16k_en.wav"} {
		f, err := os.Open(filepath.Join("..", "..", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		a, err := wav.Decode(f, nil)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		got[name] = map[string]*float64{}
		for i, x := range extract(a.Samples, a.SampleRate).Values {
			feature, _ := schema.Feature(i)
			got[name][feature] = nil
			if !math.IsNaN(x) {
				got[name][feature] = &x
			}
		}
	}
	return got
}

// TestSpoofIsTheSameEverywhere compares the features of two recordings with
// testdata/spoof-10.json, which amd64 wrote with "go test -run
// TestSpoofIsTheSameEverywhere -update ./features/spoof". A change of a definition
// is a new schema. On one architecture equal input gives equal bits; others may
// fuse a multiplication with an addition.
func TestSpoofIsTheSameEverywhere(t *testing.T) {
	// Differences are relative to the value, or to 1 if the value is less: a
	// skewness may lie near 0. The largest on arm64, emulated, is 2e-11. What is
	// measured at the pulses depends on which of two lags matches better, which
	// rounding may change: there the largest is 1.8e-4 of jitter and shimmer, and
	// 2.5e-3 of the others, where additions are fused.
	const architectures, pulses, fusedPulses = 1e-9, 1e-3, 5e-3
	limitOf := func(feature string) float64 {
		is := func(prefix string) bool { return strings.HasPrefix(feature, prefix) }
		switch {
		case is("perturbation.jitter"), is("perturbation.shimmer"):
			return pulses
		case fused.MultiplyAdd() && (is("perturbation.") || is("fundamental.") || is("cycle.")):
			return fusedPulses
		}
		return architectures
	}
	got := goldenFeatures(t)
	golden := filepath.Join("testdata", "spoof-10.json")
	if *update {
		b, err := json.MarshalIndent(got, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, append(b, '\n'), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var want map[string]map[string]*float64
	b, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	var most, mostPulses float64
	for name, features := range got {
		if len(features) != len(want[name]) {
			t.Errorf("%s: got %d features, want %d", name, len(features), len(want[name]))
		}
		for feature, x := range features {
			w := want[name][feature]
			if (x == nil) != (w == nil) {
				t.Errorf("%s: %s: got %v, want %v", name, feature, x, w)
			}
			if x == nil || w == nil {
				continue
			}
			d := math.Abs(*x-*w) / max(math.Abs(*w), 1)
			limit := limitOf(feature)
			if limit == architectures {
				most = max(most, d)
			} else {
				mostPulses = max(mostPulses, d)
			}
			if !(d <= limit) {
				t.Errorf("%s: %s: got %v, want %v", name, feature, *x, *w)
			}
		}
	}
	t.Logf("largest difference %.1e, of what is measured at pulses %.1e", most, mostPulses)
}
