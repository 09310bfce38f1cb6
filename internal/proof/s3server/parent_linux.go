package s3server

import "syscall"

// withParent makes a program end with this one.
func withParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
