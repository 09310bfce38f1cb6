//go:build !linux

package child

import (
	"os/exec"
	"syscall"
)

// endsWithParent does nothing: only Linux has a signal for it.
func endsWithParent(*exec.Cmd, syscall.Signal) {}
