package pgserver

import "syscall"

// endsWithParent ends a child at once when the test that started it was killed.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT} }
