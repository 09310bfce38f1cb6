// Package cost bounds the cost of an input in fuzz targets: a hostile input must not make
// a reader take memory or time out of proportion to its size.
package cost

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

const (
	// PerByte is how many bytes a reader may allocate for each byte of input. Slack is
	// how many it may allocate in addition, for the cost of any input: buffers, and
	// tables that are made at first use.
	PerByte = 4
	Slack   = 1 << 20

	// TimePerMiB is how much processor time a MiB of input may take. TimeSlack is how
	// much any input may take in addition. Chosen: two garbage collections that a call
	// may have to assist.
	TimePerMiB = 50 * time.Millisecond
	TimeSlack  = 100 * time.Millisecond

	// tries is how often a function that costs too much is called in all; the lowest
	// cost counts. Memory is that of the whole process, and time may include garbage
	// collection for other goroutines. Chosen.
	tries = 8
)

// Check calls f, which reads an input of n bytes. It reports an error if f allocates more
// than PerByte·n + Slack bytes, or takes more processor time than TimeSlack and TimePerMiB
// for each MiB (raceFactor times as much under the race detector). If f costs too much it is
// called again, so it must do the same each time. Check is not safe for concurrent use.
func Check(t testing.TB, n int, f func()) {
	t.Helper()
	CheckResult(t, n, func() int { f(); return 0 })
}

// CheckResult is Check for a function whose result is larger than its input by nature, such
// as samples of 8 bits that become numbers of 64 bits. F returns the size of its result in
// bytes, which counts like that of the input.
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
		t.Errorf("%d bytes of input: it allocated %d, want at most %d", n, memory, most)
	}
	if spent > longest {
		t.Errorf("%d bytes of input: it took %v of processor time, want at most %v", n, spent, longest)
	}
}

// measure calls f and returns its result, the bytes allocated and the processor time.
func measure(f func() int) (result int, memory uint64, spent time.Duration) {
	runtime.LockOSThread() // processorTime is of one thread
	defer runtime.UnlockOSThread()
	began, before := processorTime(), allocated()
	result = f()
	return result, allocated() - before, processorTime() - began
}

// allocated returns how many bytes the process has allocated so far. It lags some tens of
// KB behind.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
