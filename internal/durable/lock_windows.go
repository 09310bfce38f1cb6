package durable

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// errSharingViolation is the error of opening a file that is open without sharing
// (ERROR_SHARING_VIOLATION).
const errSharingViolation = syscall.Errno(32)

// Lock locks a file against other processes and against other calls in this process, by
// opening it without sharing. It creates the file if it is missing. Unlock or the end of
// the process releases the lock. If the lock is not free within wait, the error wraps
// ErrHeld.
func Lock(name string, wait time.Duration) (unlock func(), err error) {
	p, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for end := time.Now().Add(wait); ; time.Sleep(retry) {
		h, err := syscall.CreateFile(p, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil,
			syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
		if err == nil {
			return func() { syscall.CloseHandle(h) }, nil
		}
		if !errors.Is(err, errSharingViolation) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("%s: %w for longer than %v", name, ErrHeld, wait)
		}
	}
}
