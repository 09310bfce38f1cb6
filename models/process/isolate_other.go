//go:build !unix

package process

import (
	"os"
	"os/exec"
)

// isolate does nothing here: there are no process groups.
func isolate(*exec.Cmd) {}

// limit does nothing here.
func limit(int) {}

// await waits until a process has ended.
func await(cmd *exec.Cmd) { cmd.Wait() }

// killGroup kills p, which may have ended, without its children.
func killGroup(p *os.Process) { p.Kill() }
