package child_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/voicescreen/voicescreen/internal/proof/child"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A program outlives the thread of whoever called Start.
func TestProgramOutlivesAThread(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		thread int
		ended  <-chan error
		err    error
	}
	results := make(chan result)
	start := func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if syscall.Gettid() == os.Getpid() {
			results <- result{} // the first thread of a program does not end
			return
		}
		ended, err := child.Start(cmd, syscall.SIGKILL)
		results <- result{syscall.Gettid(), ended, err}
	}
	var r result
	for r.thread == 0 {
		go start()
		r = <-results
	}
	if r.err != nil {
		t.Fatal(r.err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(fmt.Sprint("/proc/self/task/", r.thread)); os.IsNotExist(err) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the thread does not end")
		}
	}
	if _, err := io.WriteString(in, "there\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "there\n" || err != nil {
		t.Errorf("got %q and error %v, want an answer", line, err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := <-r.ended; err != nil {
		t.Errorf("its end: got %v", err)
	}
}

func TestStartRefuses(t *testing.T) {
	if _, err := child.Start(exec.Command("/nowhere/at/all"), syscall.SIGKILL); !os.IsNotExist(err) {
		t.Errorf("got %v, want that there is no such program", err)
	}
}
