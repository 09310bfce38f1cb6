//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package tensorfile

import (
	"errors"
	"math"
	"os"
	"syscall"
)

// Map returns the first size bytes of a file, which must not be changed, and what ends
// their use. The system reads them from the file when they are used, and may drop them
// again; processes that map one file share its memory. The file must not be written or
// shortened meanwhile: replace it by renaming another one. f may be closed.
func Map(f *os.File, size int64) (data []byte, unmap func() error, err error) {
	if size <= 0 || size > math.MaxInt {
		return nil, nil, errors.New("tensorfile: nothing to map, or too much")
	}
	data, err = syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return data, func() error { return syscall.Munmap(data) }, nil
}
