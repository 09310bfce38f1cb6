// Package child starts the servers of tests, which end when the test does, however it ends.
package child

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Start starts a program, which gets the signal when this one has ended, where the system
// can do that. Its end, what Wait of it returns, comes on the channel.
func Start(cmd *exec.Cmd, signal syscall.Signal) (ended <-chan error, err error) {
	endsWithParent(cmd, signal)
	started, done := make(chan error), make(chan error, 1)
	go func() {
		// On Linux the signal comes when the thread ends that started the program: with a
		// test that was bound to it and never let it go, and not only with the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			done <- cmd.Wait()
		}
	}()
	err = <-started
	return done, err
}
