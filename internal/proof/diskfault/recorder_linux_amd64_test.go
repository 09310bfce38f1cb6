package diskfault

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// envWork is a directory in which the test binary changes files.
const envWork = "DISKFAULT_TEST_WORK"

func TestMain(m *testing.M) {
	if dir := os.Getenv(envWork); dir != "" {
		work(dir)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// work changes files from several threads, with all kinds of recorded calls, and prints
// errors. Each thread also appends to a log.
func work(dir string) {
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			name := filepath.Join(dir, fmt.Sprint("file", i))
			for n := range 20 {
				if err := errors.Join(replace(name, i), appendTo(name+".log", n == 19)); err != nil {
					fmt.Println(err)
				}
			}
		})
	}
	all.Wait()
}

// replace writes a file under a temporary name and renames it.
func replace(name string, i int) error {
	f, err := os.Create(name + ".new")
	if err != nil {
		return err
	}
	defer os.Remove(name + ".new")
	_, err = f.WriteString("begin ")
	if err == nil {
		_, err = f.WriteAt([]byte(strings.Repeat(fmt.Sprint(i), 5000)), 6)
	}
	if err == nil {
		err = f.Truncate(int64(1000 + i))
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	return err
}

// appendTo appends two lines to a log, and syncs it if end is true.
func appendTo(name string, end bool) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	for _, line := range []string{"one\n", "another\n"} {
		if _, werr := f.WriteString(line); err == nil {
			err = werr
		}
	}
	if end && err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func recorded(t *testing.T, dir string, fault func(c *Call) (syscall.Errno, int)) *Recorder {
	t.Helper()
	r := NewRecorder(dir)
	r.Fault = fault
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envWork+"="+dir)
	status, err := r.Run(cmd)
	if err != nil || status.ExitStatus() != 0 {
		t.Fatalf("got %v and error %v", status, err)
	}
	return r
}

// TestARecordingReproducesTheFiles compares the content of a disk after a whole recording
// with the files.
func TestARecordingReproducesTheFiles(t *testing.T) {
	dir, again := t.TempDir(), t.TempDir()
	r := recorded(t, dir, nil)
	d := NewDisk()
	for _, s := range r.Steps {
		d.Apply(s)
	}
	d.syncNow(rootDir)
	if err := d.Fail(again, rand.New(rand.NewPCG(1, 1))); err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		name := fmt.Sprint("file", i)
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || len(want) != 1000+i {
			t.Fatalf("got %d bytes and error %v, want %d", len(want), err, 1000+i)
		}
		if got, err := os.ReadFile(filepath.Join(again, name)); string(got) != string(want) || err != nil {
			t.Errorf("%s: got %d bytes and error %v, want the %d that were written", name, len(got), err, len(want))
		}
	}
	for i := range 8 {
		got, err := os.ReadFile(filepath.Join(again, fmt.Sprintf("file%d.log", i)))
		if want := strings.Repeat("one\nanother\n", 20); string(got) != want || err != nil {
			t.Errorf("log %d: got %d bytes and error %v, want the %d that were appended", i, len(got), err, len(want))
		}
	}
	if names, err := os.ReadDir(again); len(names) != 16 || err != nil {
		t.Errorf("got %d files and error %v, want 16", len(names), err)
	}
}

// TestEachCallCanFail makes one call of each kind fail.
func TestEachCallCanFail(t *testing.T) {
	for _, kind := range []Kind{Create, Write, Truncate, Sync, Rename} {
		done := false
		r := recorded(t, t.TempDir(), func(c *Call) (syscall.Errno, int) {
			if done || c.Kind != kind {
				return 0, 0
			}
			done = true
			return syscall.ENOSPC, 0
		})
		said, failed := "", 0
		for _, s := range r.Steps {
			if s.Call.Kind == Say {
				said += string(s.Call.Data)
			}
			if s.Call.Failed && !s.Begin && s.Call.Kind != Unlink {
				failed++
			}
		}
		if strings.Count(said, "no space left on device") != 1 || failed != 1 {
			t.Errorf("%v: the program printed %q, and %d calls failed, want one", kind, said, failed)
		}
	}
}
