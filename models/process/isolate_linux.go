package process

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// isolate gives a command a process group of its own, and the death of this process as
// its own.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// limit forbids core dumps, which would hold recordings. That fails only for a process
// that has ended.
func limit(pid int) { unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil) }

// await waits until a process has ended, and leaves its id to it until cmd.Wait: its
// group can be killed without hitting another one.
func await(cmd *exec.Cmd) {
	for unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// killGroup kills the process group of p, which may have ended.
func killGroup(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGKILL) }
