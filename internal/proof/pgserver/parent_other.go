//go:build unix && !linux

package pgserver

import "syscall"

// endsWithParent does nothing: only Linux has a signal for it.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
