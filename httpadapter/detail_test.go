package httpadapter

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

// TestDetailSaysWhetherABaselineWasUsed checks that a result without a comparison
// has no member baseline: version 1 of the service never changes.
func TestDetailSaysWhetherABaselineWasUsed(t *testing.T) {
	for baseline, want := range map[int]string{0: "", 3: `"baseline":3`} {
		b, err := json.Marshal(newDetail(&voicescreen.Result{Scores: []screen.Score{{Category: screen.Anxiety, Decision: screen.Negative, Baseline: baseline}}}, true))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(b); strings.Contains(got, "baseline") != (want != "") || !strings.Contains(got, want) {
			t.Errorf("compared with %d: got %s, want %q in it", baseline, got, want)
		}
	}
}
