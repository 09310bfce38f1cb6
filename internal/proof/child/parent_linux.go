package child

import (
	"os/exec"
	"syscall"
)

func endsWithParent(cmd *exec.Cmd, signal syscall.Signal) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = signal
}
