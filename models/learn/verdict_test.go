package learn

import (
	"math"
	"strings"
	"testing"
)

// The verdict names the rule and the figures that decided. A model that is better by
// every figure but the AUC is told apart from one that is worse by all.
func TestVerdictNamesWhatDecided(t *testing.T) {
	held := func(logScore, auc, ece, brier float64) HeldOut {
		return HeldOut{LogScore: logScore, AUC: Figure{Value: auc}, ECE: ece, Brier: brier}
	}
	for name, c := range map[string]struct {
		fresh, former HeldOut
		better        bool
		want          string
	}{
		"only the AUC is lower": {held(-0.50, 0.612, 0.01, 0.10), held(-0.52, 0.640, 0.05, 0.12), false,
			"its AUC of 0.612 is lower than the 0.640 of the model in use by more than 0.01, though its log score of -0.5000 is not lower than the -0.5200 of the model in use"},
		"only the log score is lower": {held(-0.53, 0.70, 0.01, 0.10), held(-0.52, 0.64, 0.05, 0.12), false,
			"its log score of -0.5300 is lower than the -0.5200 of the model in use, though its AUC of 0.700 is not lower than the 0.640 by more than 0.01"},
		"both are lower": {held(-0.53, 0.60, 0.01, 0.10), held(-0.52, 0.64, 0.05, 0.12), false,
			"its log score of -0.5300 is lower than the -0.5200 of the model in use, and its AUC of 0.600 is lower than the 0.640 of the model in use by more than 0.01"},
		"an AUC a little lower": {held(-0.50, 0.635, 0.09, 0.20), held(-0.52, 0.640, 0.05, 0.12), true,
			"its log score of -0.5000 is not lower than the -0.5200 of the model in use, and its AUC of 0.635 is not lower than the 0.640 by more than 0.01"},
		"no AUC": {held(-0.50, math.NaN(), 0, 0), held(-0.52, math.NaN(), 0, 0), true,
			"its log score of -0.5000 is not lower than the -0.5200 of the model in use, and no AUC is defined"},
	} {
		l := &Learned{New: c.fresh, Former: c.former}
		logScore, auc := l.rules()
		if got := l.Verdict(); got != c.want || (logScore && auc) != c.better || strings.Contains(got, "NaN") {
			t.Errorf("%s: got %v, %q, want %v, %q", name, logScore && auc, got, c.better, c.want)
		}
	}
}
