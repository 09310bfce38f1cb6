//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package bolt

import "os"

// unlock does nothing on these systems: closing a file releases its lock, or there
// is no call to release it.
func unlock(*os.File) {}
