package durable

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// number is the format of the test files: a decimal number.
var number = Format[int]{
	Parse:    func(b []byte) (int, error) { return strconv.Atoi(string(bytes.TrimSpace(b))) },
	Text:     func(n int) ([]byte, error) { return []byte(strconv.Itoa(n) + "\n"), nil },
	MaxBytes: 10,
}

func increase(n int) (int, error) { return n + 1, nil }

func TestNoConcurrentChangeIsLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	const processes, each = 4, 5
	var wg sync.WaitGroup
	for range processes {
		wg.Go(func() {
			f, err := CreateFile(path, 0, number)
			if err != nil {
				t.Error(err)
				return
			}
			for range each {
				if err := f.Change(increase); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	f, err := OpenFile(path, number)
	if err != nil || f.Get() != processes*each {
		t.Errorf("got error %v, want %d", err, processes*each)
	}
	names, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil || len(names) != 2 {
		t.Errorf("got files %v, want the file and its lock", names)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("got mode %v and error %v, want the owner alone", info.Mode(), err)
	}
}

// TestTheNextChangeRemovesATemporaryFile changes a file after a killed process left its
// temporary file.
func TestTheNextChangeRemovesATemporaryFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	f, err := CreateFile(path, 1, number)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".tmp", []byte("12345"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := f.Change(increase); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + ".tmp"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v for the file that was left, want %v", err, fs.ErrNotExist)
	}
	if got, err := os.ReadFile(path); string(got) != "2\n" || err != nil {
		t.Errorf("got %q and error %v", got, err)
	}
}

// changedOnce opens a file twice and changes it from 1 to 2 through a. B has not read it
// since.
func changedOnce(t *testing.T) (a, b *File[int]) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "n")
	a, err := CreateFile(path, 1, number)
	if err != nil {
		t.Fatal(err)
	}
	b, err = OpenFile(path, number)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Change(increase); err != nil {
		t.Fatal(err)
	}
	return a, b
}

func TestAnotherProcessesChangeIsSeen(t *testing.T) {
	a, b := changedOnce(t)
	if got, err := b.Read(); got != 2 || err != nil {
		t.Errorf("Read: got %d and error %v, want 2", got, err)
	}
	if err := a.Change(increase); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); b.Get() != 3; time.Sleep(10 * time.Millisecond) { // on a busy machine
		if time.Now().After(end) {
			t.Fatal("Get does not see the change")
		}
	}
}

// TestAClockSetBackHidesNoChange sets the clock back by an hour after the last check of
// the file.
func TestAClockSetBackHidesNoChange(t *testing.T) {
	_, b := changedOnce(t)
	b.polled.Store(time.Now().Add(time.Hour).UnixNano())
	if got := b.Get(); got != 2 {
		t.Errorf("got %d, want the changed value 2", got)
	}
}

// TestGetDoesNotWaitForAChange calls Get while a change is in progress.
func TestGetDoesNotWaitForAChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	f, err := CreateFile(path, 5, number)
	if err != nil {
		t.Fatal(err)
	}
	begun, end, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- f.Change(func(n int) (int, error) {
			close(begun)
			<-end
			return n + 1, nil
		})
	}()
	<-begun
	f.polled.Store(0) // as if the last check was long ago
	if got := f.Get(); got != 5 {
		t.Errorf("got %d during the change, want 5", got)
	}
	close(end)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := f.Get(); got != 6 {
		t.Errorf("got %d after the change, want 6", got)
	}
}

func TestAFileThatCannotBeReadKeepsItsValue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	f, err := CreateFile(path, 7, number)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"broken": "x", "too long": strings.Repeat("1", 11)} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Read(); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got error %v, want one that names the file", name, err)
		}
		if err := f.Change(increase); err == nil {
			t.Errorf("%s: the file was overwritten", name)
		}
		if got := f.Get(); got != 7 {
			t.Errorf("%s: got %d, want the former value, 7", name, got)
		}
		if _, err := CreateFile(path, 0, number); err == nil {
			t.Errorf("%s: was opened", name)
		}
	}
	if err := os.WriteFile(path, []byte("8"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Read(); got != 8 || err != nil {
		t.Errorf("repaired: got %d and error %v, want 8", got, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed: got error %v, want %v", err, fs.ErrNotExist)
	}
	if _, err := OpenFile(path, number); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("OpenFile: got error %v, want %v", err, fs.ErrNotExist)
	}
}

func TestARefusedChangeChangesNothing(t *testing.T) {
	fault := errors.New("no")
	file, err := CreateFile(filepath.Join(t.TempDir(), "n"), 5, number)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]*File[int]{"in a file": file, "in memory": Memory(5)} {
		if err := f.Change(func(int) (int, error) { return 9, fault }); err != fault {
			t.Errorf("%s: got error %v, want the error itself", name, err)
		}
		if got, err := f.Read(); got != 5 || err != nil {
			t.Errorf("%s: got %d and error %v, want 5", name, got, err)
		}
		if err := f.Change(increase); err != nil || f.Get() != 6 {
			t.Errorf("%s: got %d and error %v, want 6", name, f.Get(), err)
		}
	}
}
