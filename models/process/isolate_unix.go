//go:build unix && !linux

package process

import (
	"os"
	"os/exec"
	"syscall"
)

// isolate gives a command a process group of its own.
func isolate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// limit does nothing here.
func limit(int) {}

// await waits until a process has ended. Its id could be another's at once; systems give
// ids in ascending order, so that this does not happen before the next line.
func await(cmd *exec.Cmd) { cmd.Wait() }

// killGroup kills the process group of p, which may have ended.
func killGroup(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGKILL) }
