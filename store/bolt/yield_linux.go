package bolt

import (
	"runtime"
	"syscall"
)

// yield lets others run: goroutines that this thread can take, and then threads
// that wait for its processor, which the system may not move to another for a
// few milliseconds. They have goroutines that this one cannot take as long as it
// finds itself.
func yield() {
	runtime.Gosched()
	_, _, _ = syscall.Syscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
}
