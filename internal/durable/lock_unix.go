//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package durable

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Lock locks the file of a name, which it makes, against other processes
// and other calls in this one. The lock ends with unlock or with the process;
// the file stays, since removing it would let two processes hold two files of
// one name. It gives up after wait.
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
