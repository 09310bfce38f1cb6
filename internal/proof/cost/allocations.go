package cost

import (
	"runtime"
	"testing"
)

// measurements is how often Allocations and Memory measure at most. Chosen: a sync.Pool
// drops one of four items at random under the race detector, and eight calls in a row are
// then without a loss often enough for tests of a few pools.
const measurements = 8

// Allocations is testing.AllocsPerRun for functions that allocate nothing in the steady
// state: it returns 0 if one of a few measurements finds no allocation, and otherwise the
// lowest number. Allocations are those of the whole process, so a garbage collection or a
// goroutine of an earlier test can add to a single measurement. Like AllocsPerRun it must
// not run in a parallel test.
func Allocations(runs int, f func()) float64 {
	lowest := testing.AllocsPerRun(runs, f)
	for i := 1; i < measurements && lowest > 0; i++ {
		lowest = min(lowest, testing.AllocsPerRun(runs, f))
	}
	return lowest
}

// Memory calls f until it allocates at most mostObjects objects and mostBytes bytes, but
// no more than a few times. It returns the lowest numbers among the calls. Both are those of
// the whole process, as with Allocations.
func Memory(mostObjects, mostBytes uint64, f func()) (objects, bytes uint64) {
	objects, bytes = ^uint64(0), ^uint64(0)
	for i := 0; i < measurements && (objects > mostObjects || bytes > mostBytes); i++ {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		objects, bytes = min(objects, after.Mallocs-before.Mallocs), min(bytes, after.TotalAlloc-before.TotalAlloc)
	}
	return objects, bytes
}
