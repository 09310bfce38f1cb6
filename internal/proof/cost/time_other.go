//go:build !linux

package cost

import "time"

var start = time.Now()

// processorTime is the time of day where a thread's own is not to be had.
func processorTime() time.Duration { return time.Since(start) }
