//go:build !linux

package s3server

import "syscall"

// withParent makes a program end with this one, where the system can do that.
func withParent() *syscall.SysProcAttr { return nil }
