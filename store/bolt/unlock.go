//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package bolt

import "os"

// unlock does nothing: where closing a file releases its locks though it is
// still mapped, or where there is no call for it.
func unlock(*os.File) {}
