package cost

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is how long the thread has been on a processor.
func processorTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		panic(err) // it has no way to fail with these arguments
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
