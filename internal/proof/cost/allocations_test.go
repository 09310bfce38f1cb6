package cost

import "testing"

// TestLowestMeasurementsCount has functions of which the first calls allocate, as those
// that a garbage collection or another goroutine disturbs, and functions of which all do.
func TestLowestMeasurementsCount(t *testing.T) {
	const runs, size = 2, 1 << 10
	for name, c := range map[string]struct {
		calls int // that allocate
		want  float64
	}{
		"no call":                {0, 0},
		"the first calls":        {5 * (runs + 1), 0}, // AllocsPerRun makes one call more
		"seven measurements":     {(measurements-1)*(runs+1) + 1, 0},
		"all calls":              {1e6, 1},
		"all calls but the last": {measurements*(runs+1) - 1, 0}, // the average is rounded down
	} {
		left := c.calls
		f := func() {
			if left--; left >= 0 {
				sink = make([]byte, size)
			}
		}
		if got := Allocations(runs, f); got != c.want {
			t.Errorf("%s allocates: got %v allocations, want %v", name, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		calls       int    // that allocate
		least, most uint64 // bytes
	}{
		"no call":         {0, 0, size - 1},
		"the first calls": {measurements - 1, 0, size - 1},
		"all calls":       {1e6, size, 1 << 20},
	} {
		left := c.calls
		objects, bytes := Memory(0, size-1, func() {
			if left--; left >= 0 {
				sink = make([]byte, size)
			}
		})
		if bytes < c.least || bytes > c.most || (objects > 0) != (c.least > 0) {
			t.Errorf("%s allocate: got %d objects and %d bytes, want %d to %d bytes", name, objects, bytes, c.least, c.most)
		}
	}
}
