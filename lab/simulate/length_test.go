package simulate

import (
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/screen"
)

// TestLengthCounts checks that more speech ranks people better and gives narrower
// intervals, which cover the truth at every length as often as they say.
func TestLengthCounts(t *testing.T) {
	t.Parallel()
	const want = 0.90
	tolerance := cost.Sized(0.03, 0.06)
	for _, c := range []screen.Category{screen.Depression, screen.Anxiety} {
		base := shippedModel(t, c)
		var last Length
		for i, seconds := range lengths {
			row, err := length(t.Context(), base, seconds, *scale*cost.Sized(30, 12), lengthPeople, 1)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%v: %+v", c, row)
			if math.Abs(row.Covered-want) > tolerance+row.SE {
				t.Errorf("%v, %v s: got coverage %.3f, want %.2f within %.2f", c, seconds, row.Covered, want, tolerance)
			}
			if i > 0 && !(row.AUC > last.AUC && row.Width < last.Width && row.Spread > last.Spread) {
				t.Errorf("%v, %v s: got %+v after %+v, want a higher AUC, a narrower interval and less shrinkage", c, seconds, row, last)
			}
			last = row
		}
	}
}
