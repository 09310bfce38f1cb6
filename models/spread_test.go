package models

import (
	"math"
	"testing"
)

// A deviation is in standard deviations of the training recordings, however the trainer
// scaled the feature.
func TestSpreadIsThatOfTheRange(t *testing.T) {
	for name, c := range map[string]struct {
		f    Feature
		want float64
	}{
		"no range":             {Feature{Scale: 0.4}, 0.4},
		"of a normal one":      {Feature{Scale: 2, Low: -2 * 2.5758, High: 2 * 2.5758}, 2},
		"scaled for its worth": {Feature{Scale: 0.05, Low: -3, High: -3 + 0.2*5.1517}, 0.2},
	} {
		if got := c.f.spread(); !(math.Abs(got-c.want) < 1e-4*c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
