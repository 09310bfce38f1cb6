//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package tensorfile

import (
	"errors"
	"io"
	"math"
	"os"
)

// Map returns the first size bytes of a file, which must not be changed, and what ends
// their use. It reads them into memory. f may be closed.
func Map(f *os.File, size int64) (data []byte, unmap func() error, err error) {
	if size <= 0 || size > math.MaxInt {
		return nil, nil, errors.New("tensorfile: nothing to map, or too much")
	}
	data, err = io.ReadAll(io.NewSectionReader(f, 0, size))
	if err == nil && int64(len(data)) < size {
		err = io.ErrUnexpectedEOF
	}
	return data, func() error { return nil }, err
}
