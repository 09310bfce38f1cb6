package models

import "testing"

// A recording of any length whose segments were all measured has a coverage of
// exactly 1: more is refused by the engine, and less is said to be partial.
func TestAverageCoverageOfWholeSegmentsIsOne(t *testing.T) {
	list := make([]prediction, 300)
	for i := range list {
		list[i].coverage = 1
	}
	var p prediction
	for n := 1; n <= len(list); n++ {
		if p.average(list[:n], leastCoverage); p.coverage != 1 {
			t.Errorf("%d segments: got a coverage of %v, want 1", n, p.coverage)
		}
	}
}
