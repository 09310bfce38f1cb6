//go:build !linux

package bolt

import "runtime"

// yield lets others run.
func yield() { runtime.Gosched() }
