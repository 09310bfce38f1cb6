package durable

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// errSharingViolation is what opening a file gives that another opened
// without sharing it (ERROR_SHARING_VIOLATION).
const errSharingViolation = syscall.Errno(32)

// Lock locks the file of a name, which it makes, against other processes
// and other calls in this one, by opening it without sharing. The lock ends
// with unlock or with the process. It gives up after wait.
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
