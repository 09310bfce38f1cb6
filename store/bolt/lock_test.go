package bolt_test

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/internal/proof/ramdisk"
	"github.com/voicescreen/voicescreen/internal/proof/testflag"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// envHold is the path of a store that the test binary opens. It prints "open" and waits
// for the end of its input.
const envHold = "VOICESCREEN_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(envHold); path != "" {
		if _, err := bolt.Open(path, nil); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("open")
		_, _ = bufio.NewReader(os.Stdin).ReadByte()
		os.Exit(0)
	}
	if path := os.Getenv(envCrash); path != "" {
		work(path)
	}
	if path := os.Getenv(envHistory); path != "" {
		makeHistories(path)
	}
	if err := errors.Join(testflag.Parallel("4"), testflag.Histories(cost.Sized("50", "20")), ramdisk.Temp()); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

func TestASecondOpenReturnsErrLocked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	st, err := bolt.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for timeout, least := range map[time.Duration]time.Duration{-1: 0, 100 * time.Millisecond: 50 * time.Millisecond} {
		began := time.Now()
		_, err = bolt.Open(path, &bolt.Options{LockTimeout: timeout})
		if !errors.Is(err, bolt.ErrLocked) {
			t.Errorf("time-out %v: got error %v, want %v", timeout, err, bolt.ErrLocked)
		}
		if err != nil && !strings.Contains(err.Error(), "already open by this process") {
			t.Errorf("time-out %v: got error %v, want it to name this process", timeout, err)
		}
		if waited := time.Since(began); waited < least {
			t.Errorf("time-out %v: gave up after %v", timeout, waited)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st, err = bolt.Open(path, nil)
	if err != nil {
		t.Fatalf("after Close: %v", err)
	}
	_ = st.Close()
}

func TestOpenWaitsForTheLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	st, err := bolt.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		time.Sleep(100 * time.Millisecond)
		_ = st.Close()
	}()
	second, err := bolt.Open(path, &bolt.Options{LockTimeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	_ = second.Close()
}

func TestTheLockEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), envHold+"="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "open\n" {
		t.Fatalf("the other process printed %q (%v)", line, err)
	}
	_, err = bolt.Open(path, &bolt.Options{LockTimeout: -1})
	if !errors.Is(err, bolt.ErrLocked) || !strings.Contains(err.Error(), "already open by another process") || !strings.Contains(err.Error(), path) {
		t.Errorf("got error %v, want one that names the file and says %v", err, bolt.ErrLocked)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	st, err := bolt.Open(path, nil)
	if err != nil {
		t.Fatalf("after the other process was killed: %v", err)
	}
	_ = st.Close()
}

// TestRacingCreationsMakeOneStore opens a new store concurrently: no session that one
// of the openers stores may be lost.
func TestRacingCreationsMakeOneStore(t *testing.T) {
	t.Parallel()
	t.Run("plain", func(t *testing.T) { raceToCreate(t, nil, "test.db") })
	t.Run("encrypted", func(t *testing.T) { raceToCreate(t, testKey, "test.db", "test.db.keyslots") })
}

// raceToCreate opens a new store concurrently, and wants these files in the end.
func raceToCreate(t *testing.T, key []byte, want ...string) {
	const openers = 8
	dir := t.TempDir()
	path := filepath.Join(dir, "test.db")
	open := func() *bolt.Store {
		st, err := bolt.Open(path, &bolt.Options{Key: key, LockTimeout: time.Minute})
		if err != nil {
			t.Error(err)
		}
		return st
	}
	var all sync.WaitGroup
	for i := range openers {
		all.Go(func() {
			if st := open(); st != nil {
				if err := errors.Join(st.Create(t.Context(), result(i)), st.Close()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	st := open()
	if st == nil {
		return
	}
	defer st.Close()
	list, err := st.List(t.Context(), "clinic", "patient", nil, 2*openers)
	if err != nil || len(list) != openers {
		t.Errorf("got %d sessions and error %v, want %d", len(list), err, openers)
	}
	if names := slices.Sorted(maps.Keys(files(t, dir))); !slices.Equal(names, want) {
		t.Errorf("got files %v, want %v", names, want)
	}
}
