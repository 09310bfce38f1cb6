package voicescreen_test

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/voicescreen/voicescreen/features"
)

var update = flag.Bool("update", false, "write the golden files again")

// architectures is the relative difference that is allowed between
// architectures, which may fuse a multiplication with an addition. On one
// architecture equal input gives equal bits.
const architectures = 1e-9

// TestFeaturesAreTheSameEverywhere holds the features of the recordings to
// those of testdata/features.json, which amd64 wrote. On arm64 the largest
// difference is 4e-12.
func TestFeaturesAreTheSameEverywhere(t *testing.T) {
	golden := filepath.Join("testdata", "features.json")
	got := map[string]map[string]*float64{}
	for _, name := range []string{"female_en.wav", "interview_en.wav", "short_en.wav", "spoken_en.wav", "voice_16k_en.wav"} {
		f, err := os.Open(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		c, err := features.ReadChannel(t.Context(), f, 0, 0)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		v := features.NewMeasurer().Measure(c).Features
		got[name] = map[string]*float64{}
		for i, x := range v.Values {
			feature, _ := v.Schema.Feature(i)
			if !math.IsNaN(x) {
				got[name][feature] = &x
			} else {
				got[name][feature] = nil
			}
		}
	}
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
	for name, features := range got {
		if len(features) != len(want[name]) {
			t.Errorf("%s: got %d features, want %d", name, len(features), len(want[name]))
		}
		for feature, x := range features {
			w := want[name][feature]
			switch {
			case (x == nil) != (w == nil):
				t.Errorf("%s: %s: got %v, want %v", name, feature, x, w)
			case x != nil && math.Abs(*x-*w) > architectures*math.Abs(*w):
				t.Errorf("%s: %s: got %v, want %v", name, feature, *x, *w)
			}
		}
	}
}
