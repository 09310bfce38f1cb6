package store

import (
	"errors"
	"runtime"
	"syscall"
)

// ErrFull says that a store has no room for what is to be stored. A store may
// return it, wrapped, or wrap the error of the operating system.
var ErrFull = errors.New("store: no room is left")

// IsFull reports whether err says that a store or a disk is full: ErrFull, or an
// error of the operating system that there is no space, that a quota is used up or
// that a file may not grow.
func IsFull(err error) bool {
	var errno syscall.Errno
	switch {
	case errors.Is(err, ErrFull):
		return true
	case !errors.As(err, &errno):
		return false
	case runtime.GOOS == "windows":
		return errno == errnoHandleDiskFull || errno == errnoDiskFull
	}
	return errno == syscall.ENOSPC || errno == syscall.EDQUOT || errno == syscall.EFBIG
}

// The errors of Windows for a full disk: ERROR_HANDLE_DISK_FULL and ERROR_DISK_FULL.
const (
	errnoHandleDiskFull syscall.Errno = 39
	errnoDiskFull       syscall.Errno = 112
)
