//go:build unix

package process

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// TestChildrenAreKilled: a child in the group of a program that ended does not outlive it.
func TestChildrenAreKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pid")
	s := open(t, Options{}, "family", path)
	if _, err := s.Score(t.Context(), tone(100, 16000)); err == nil {
		t.Error("got no error of a program that ended")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); running(child); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d, a child of the program, still runs", child)
		}
	}
}

// running reports whether a process runs: a zombie, which its new parent has not waited
// for, does not.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err != nil || !zombie(string(stat))
}

// zombie reports whether the state in /proc/PID/stat, after the name in brackets, is Z.
func zombie(stat string) bool {
	for i := len(stat) - 1; i >= 0; i-- {
		if stat[i] == ')' {
			return i+2 < len(stat) && stat[i+2] == 'Z'
		}
	}
	return false
}
