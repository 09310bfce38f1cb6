// Package cost holds fuzz targets to what an input may cost: a hostile one
// must not make a reader take memory or time out of proportion to its size.
package cost

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

const (
	// PerByte is how many bytes may be allocated for each byte of input, and
	// Slack how many besides, for what any input costs: buffers, tables that
	// are made at first use.
	PerByte = 4
	Slack   = 1 << 20

	// TimePerMiB is how much processor time a MiB of input may take, and
	// TimeSlack how much any input may. The second was chosen: two collections
	// of garbage into which a call may be drawn.
	TimePerMiB = 50 * time.Millisecond
	TimeSlack  = 100 * time.Millisecond

	// tries is how often what costs too much is called in all; the least
	// counts. Memory is counted by the process, and time may be that of a
	// collection of others' garbage. Chosen.
	tries = 3
)

// Check calls f, which reads an input of n bytes, and says so if it allocates
// more than PerByte·n + Slack bytes or takes more processor time than
// TimePerMiB for each MiB and TimeSlack; under the race detector raceFactor
// times that. What costs too much is called again, so f must do the same each
// time. Check must not be called by two goroutines at once.
func Check(t testing.TB, n int, f func()) {
	t.Helper()
	CheckResult(t, n, func() int { f(); return 0 })
}

// CheckResult is Check for an f that returns the size in bytes of what it made
// of the input, if that is larger by its nature: samples of 8 bits become
// numbers of 64. It counts like the input.
func CheckResult(t testing.TB, n int, f func() int) {
	t.Helper()
	memory, spent := ^uint64(0), time.Duration(1<<62)
	var most uint64
	var longest time.Duration
	for range tries {
		result, m, d := measure(f)
		memory, spent = min(memory, m), min(spent, d)
		most = uint64(PerByte*n + result + Slack)
		longest = raceFactor * (TimeSlack + TimePerMiB*time.Duration(n+result)/(1<<20))
		if memory <= most && spent <= longest {
			return
		}
	}
	if memory > most {
		t.Errorf("%d bytes of input made it allocate %d, want at most %d", n, memory, most)
	}
	if spent > longest {
		t.Errorf("%d bytes of input took %v of processor time, want at most %v", n, spent, longest)
	}
}

// measure returns what f returns, and what it costs.
func measure(f func() int) (result int, memory uint64, spent time.Duration) {
	runtime.LockOSThread() // the clock is that of the thread
	defer runtime.UnlockOSThread()
	began, before := processorTime(), allocated()
	result = f()
	return result, allocated() - before, processorTime() - began
}

// allocated returns how many bytes the process has allocated so far. It is some
// tens of KB behind.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
