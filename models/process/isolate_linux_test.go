package process

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// host opens a program that does not read its input, prints its process and waits.
func host() {
	s, err := Open(context.Background(), []string{os.Args[0], "helper", "deaf"}, &Options{Processes: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println((<-s.slots).cmd.Process.Pid)
	time.Sleep(time.Hour)
}

// TestProgramDiesWithItsHost: a program does not outlive a service that was killed. Its
// core dumps are forbidden.
func TestProgramDiesWithItsHost(t *testing.T) {
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(me, "helper", "host")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir()) // for the working directory, which is left over
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pid, errPid := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || errPid != nil {
		cmd.Process.Kill()
		t.Fatalf("got %q, %v", line, err)
	}
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(string(limits)) {
		if f := strings.Fields(line); strings.HasPrefix(line, "Max core file size") && (f[4] != "0" || f[5] != "0") {
			t.Errorf("got %q, want no core dumps", line)
		}
	}
	cmd.Process.Kill()
	cmd.Wait()
	for deadline := time.Now().Add(20 * time.Second); running(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d still runs", pid)
		}
	}
}
