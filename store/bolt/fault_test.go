//go:build linux && amd64

package bolt_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/diskfault"
)

// faultKinds are the errors with which calls fail. The last one stands for a disk that
// becomes full during a write.
var faultKinds = []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EACCES, 0}

// turns makes the calls of each operation fail in turn: the first call at the first
// attempt, the second at the second, until the operation succeeds.
type turns struct {
	kind   int
	turn   int  // number of the call that fails in this attempt
	calls  int  // of this attempt
	full   int  // number of the file for which the disk is full
	stays  bool // whether the later calls of this attempt fail too
	over   bool
	faults map[diskfault.Kind]int
}

func (f *turns) fault(c *diskfault.Call) (syscall.Errno, int) {
	n := f.calls
	f.calls++
	if f.over {
		return 0, 0
	}
	if c.Kind == diskfault.Write && c.File == f.full {
		f.full = -1
		return syscall.ENOSPC, 0
	}
	if n != f.turn && !(f.stays && n > f.turn) {
		return 0, 0
	}
	f.faults[c.Kind]++
	errno := faultKinds[(f.kind+n)%len(faultKinds)]
	switch {
	case errno != 0:
		return errno, 0
	case c.Kind == diskfault.Write && len(c.Data) > 1:
		f.full = c.File
		return 0, len(c.Data) / 2
	}
	return syscall.ENOSPC, 0
}

// said begins the next attempt.
func (f *turns) said(line string) {
	if line == "failed\n" {
		f.turn++
	} else {
		f.turn = 0
	}
	f.calls, f.full = 0, -1
	f.over = line == "end\n"
}

func recordFaults(t *testing.T, key []byte, kind int, stays bool) (recording, *turns) {
	t.Helper()
	dir := t.TempDir()
	f := &turns{kind: kind, stays: stays, full: -1, faults: map[diskfault.Kind]int{}}
	r := diskfault.NewRecorder(dir)
	r.Fault = f.fault
	r.Stop = func(s diskfault.Step) bool {
		if s.Call.Kind == diskfault.Say {
			f.said(string(s.Call.Data))
		}
		return false
	}
	cmd := historyCommand(filepath.Join(dir, "test.db"), key, kind)
	cmd.Env = append(cmd.Env, envPersist+"=1")
	status, err := r.Run(cmd)
	if err != nil {
		t.Fatal(err)
	}
	text := diskfault.Said(r.Steps)
	if status.ExitStatus() != 0 || strings.Contains(text, "error") {
		t.Fatalf("the process ended with %v: %s", status, text[max(0, len(text)-2000):])
	}
	return recording{key, r.Steps}, f
}

// TestEachFailingCallLeavesAKnownState makes each call that changes a file fail, in each
// operation and in the creation of the store. The state is then that before or after the
// operation, and the operation succeeds after the fault, in the same process. The test
// then simulates power failures during all of this, on a disk that loses what a failed
// fsync did not write.
func TestEachFailingCallLeavesAKnownState(t *testing.T) {
	kinds, cuts := 1, 50
	if os.Getenv(envFaults) != "" {
		kinds, cuts = len(faultKinds), 1000
	}
	for name, key := range map[string][]byte{"plain": nil, "encrypted": testKey} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			faults, losses := map[diskfault.Kind]int{}, 0
			for i := range 2 * kinds {
				kind, stays := i/2, i%2 == 1
				r, f := recordFaults(t, key, kind, stays)
				for k, n := range f.faults {
					faults[k] += n
				}
				r.fail(t, r.cuts(cuts, uint64(i)), func(c diskfault.Cut, err error) bool {
					losses++
					t.Errorf("kind %d, lasting %v: the power fails after step %d of %d, seed %d: %v", kind, stays, c.After, len(r.steps), c.Seed, err)
					return losses < 10
				})
			}
			t.Logf("failed calls %v, %d cut points: %d losses", faults, 2*kinds*cuts, losses)
			for _, k := range []diskfault.Kind{diskfault.Create, diskfault.Write, diskfault.Truncate, diskfault.Sync, diskfault.Rename, diskfault.Link, diskfault.Unlink, diskfault.Mkdir} {
				if faults[k] == 0 {
					t.Errorf("no %v failed", k)
				}
			}
		})
	}
}

// TestAPlantedFaultIsSeenAmongFailingCalls leaves out the second write of the meta pages
// after a failed sync. A second sync alone succeeds too, and the pages are lost.
func TestAPlantedFaultIsSeenAmongFailingCalls(t *testing.T) {
	r, _ := recordFaults(t, nil, 0, false)
	r.steps = slices.DeleteFunc(r.steps, isRewrite)
	r.wantFault(t)
}
