//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package durable

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Lock locks a file against other processes and against other calls in this process. It
// creates the file if it is missing. Unlock or the end of the process releases the lock.
// The file stays: if it were removed, two processes could each lock a file of that name.
// If the lock is not free within wait, the error wraps ErrHeld.
func Lock(name string, wait time.Duration) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(wait); ; time.Sleep(retry) {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			break
		}
		if time.Now().After(end) {
			err = fmt.Errorf("%w for longer than %v", ErrHeld, wait)
			break
		}
	}
	f.Close()
	return nil, fmt.Errorf("%s: %w", name, err)
}
