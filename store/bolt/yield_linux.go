package bolt

import (
	"runtime"
	"syscall"
)

// yield gives up the processor: first to other goroutines of this thread, then to
// other threads that wait for it. The second matters because Linux may leave a
// runnable thread in the queue of this processor for a few milliseconds.
func yield() {
	runtime.Gosched()
	_, _, _ = syscall.Syscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
}
