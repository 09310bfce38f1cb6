//go:build !linux

package bolt

import "runtime"

// yield gives up the processor to other goroutines.
func yield() { runtime.Gosched() }
