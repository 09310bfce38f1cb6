//go:build linux && amd64

package bolt_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/diskfault"
)

// beforeDelete is the number of operations of the first process before the one in which
// it is killed. That one deletes a session, by a commit that frees pages and, in an
// encrypted store, retires a key.
const beforeDelete = 15

// isMeta reports whether a step is the write of one of the two meta pages.
func isMeta(s diskfault.Step) bool {
	c, page := s.Call, os.Getpagesize()
	return c.Kind == diskfault.Write && c.Name == "test.db" && c.Offset < int64(2*page) && len(c.Data) == page
}

// isRewrite reports whether a step is the write of both meta pages: group.rewrite.
func isRewrite(s diskfault.Step) bool {
	c := s.Call
	return c.Kind == diskfault.Write && c.Name == "test.db" && c.Offset == 0 && len(c.Data) == 2*os.Getpagesize()
}

// recordKilled records a process that is killed in a deletion, after it wrote the meta
// page and before it syncs it, and a second process that continues. It returns the
// number of the first step of the second process.
func recordKilled(t *testing.T, key []byte) (r recording, second int) {
	t.Helper()
	dir := t.TempDir()
	rec := diskfault.NewRecorder(dir)
	lines := map[string]bool{}
	run := func(epoch int, stop func(s diskfault.Step) bool) {
		stopped := false
		rec.Stop = func(s diskfault.Step) bool {
			if s.Call.Kind == diskfault.Say {
				lines[string(s.Call.Data)] = true
			}
			stopped = stopped || stop(s)
			return stopped
		}
		cmd := historyCommand(filepath.Join(dir, "test.db"), key, epoch)
		cmd.Env = append(cmd.Env, envPersist+"=1") // one operation at a time
		if status, err := rec.Run(cmd); err != nil || !status.Signaled() {
			t.Fatalf("process %d ended with %v and error %v: %s", epoch, status, err, diskfault.Said(rec.Steps))
		}
	}
	run(0, func(s diskfault.Step) bool { return lines[fmt.Sprintf("same e0.0 %d\n", beforeDelete)] && isMeta(s) })
	second = len(rec.Steps)
	if !isMeta(rec.Steps[second-1]) {
		t.Fatalf("the process was killed after %v of %s, want the write of a meta page", rec.Steps[second-1].Call.Kind, rec.Steps[second-1].Call.Name)
	}
	run(1, func(diskfault.Step) bool { return lines["e1.0 1\n"] })
	return recording{key, rec.Steps}, second
}

// lose returns the first n steps as they may have reached the disk: without the last
// write of the first process, unless a sync has completed since.
func (r recording) lose(second, n int) recording {
	lost, begun := second-1, false
	steps := slices.Clone(r.steps[:n])
	for _, s := range steps[second:] {
		if c := s.Call; c.Kind == diskfault.Sync && c.Name == "test.db" {
			if begun && !s.Begin {
				lost = -1
			}
			begun = s.Begin
		}
	}
	if lost >= 0 {
		steps = slices.Delete(steps, lost, lost+1)
	}
	files := map[int]bool{}
	for _, s := range slices.Clone(steps) { // everything else is synced
		for _, file := range []int{s.Call.File, s.Call.Dir} {
			if s.Call.Kind != diskfault.Say && !files[file] {
				files[file] = true
				sync := &diskfault.Call{Kind: diskfault.Sync, File: file}
				steps = append(steps, diskfault.Step{Call: sync, Begin: true}, diskfault.Step{Call: sync})
			}
		}
	}
	return recording{r.key, steps}
}

// worst simulates a power failure after each step from the end of the first process to
// the first commit of the second, losing the last write of the first process where that
// is possible. It returns the faults of the stores that result.
func (r recording) worst(t *testing.T, second int) (losses []error) {
	t.Helper()
	for n := second; ; n++ {
		all := r.lose(second, n)
		all.fail(t, []diskfault.Cut{{After: len(all.steps)}}, func(_ diskfault.Cut, err error) bool {
			losses = append(losses, fmt.Errorf("the power fails %d steps after the kill: %w", n-second, err))
			return false
		})
		if n > second && isMeta(r.steps[n-1]) {
			return losses
		}
	}
}

// TestOpenSyncsWhatAKilledProcessWrote kills a process between the write and the sync of
// the meta page of a commit. The next process sees that commit, destroys the keys that it
// retired and overwrites pages that only the commit before needs. Then the power fails
// and the meta page is lost. Open must therefore make the commit durable first. The test
// also plants the fault that it does not, and stores are lost.
func TestOpenSyncsWhatAKilledProcessWrote(t *testing.T) {
	for name, key := range map[string][]byte{"plain": nil, "encrypted": testKey} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, second := recordKilled(t, key)
			for _, err := range r.worst(t, second) {
				t.Error(err)
			}
			planted := recording{key, withoutRewrite(r.steps, second)}
			if len(planted.steps) != len(r.steps)-3 {
				t.Fatalf("%d steps were left out, want a write, and a sync of two", len(r.steps)-len(planted.steps))
			}
			losses := planted.worst(t, second)
			if len(losses) == 0 {
				t.Error("the test does not detect that Open leaves out the rewrite")
			}
			t.Logf("without the rewrite: %v", errors.Join(losses...))
		})
	}
}

// withoutRewrite leaves out the rewrite of the second process and its sync.
func withoutRewrite(steps []diskfault.Step, second int) []diskfault.Step {
	i := slices.IndexFunc(steps[second:], isRewrite)
	if i < 0 {
		return steps
	}
	steps = slices.Delete(slices.Clone(steps), second+i, second+i+1)
	for range 2 { // the beginning and the end of the sync
		j := slices.IndexFunc(steps[second+i:], func(s diskfault.Step) bool {
			return s.Call.Kind == diskfault.Sync && s.Call.Name == "test.db"
		})
		steps = slices.Delete(steps, second+i+j, second+i+j+1)
	}
	return steps
}
