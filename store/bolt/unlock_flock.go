//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package bolt

import (
	"os"
	"syscall"
)

// unlock releases bbolt's lock on a file. Closing it is not enough as long as
// it is mapped into memory.
func unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
