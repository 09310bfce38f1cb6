package cost

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is the processor time that the current thread has used.
func processorTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		panic(err) // impossible with these arguments
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
