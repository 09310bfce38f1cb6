//go:build !linux

package cost

import "time"

var start = time.Now()

// processorTime is the elapsed time, on systems without the processor time of a thread.
func processorTime() time.Duration { return time.Since(start) }
