//go:build linux && amd64

package bolt_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/diskfault"
)

const (
	defaultCuts = 100
	// cutsEach is the number of cuts of one recording. Chosen: a recording takes as long
	// as some hundred cuts.
	cutsEach = 125
	// makingSteps is a lower bound of the steps in which an encrypted store is created.
	makingSteps = 32
)

// recording is the system calls of three processes that use a store one after the other.
// The first is killed while it creates the store, the second during its work, and the
// third ends.
type recording struct {
	key   []byte
	steps []diskfault.Step
}

// record makes a recording. It kills the first process when making, called with each of
// its steps and their number so far, returns true.
func record(t *testing.T, key []byte, seed uint64, making func(n int, s diskfault.Step) bool) recording {
	t.Helper()
	dir := t.TempDir()
	r := diskfault.NewRecorder(dir)
	second := 300 + rand.New(rand.NewPCG(seed, 1)).IntN(300)
	for epoch, stop := range []func(n int, s diskfault.Step) bool{
		making,
		func(n int, _ diskfault.Step) bool { return n >= second },
		func(int, diskfault.Step) bool { return false },
	} {
		n, stopped := 0, false
		r.Stop = func(s diskfault.Step) bool { n++; stopped = stopped || stop(n, s); return stopped }
		status, err := r.Run(historyCommand(filepath.Join(dir, "test.db"), key, epoch))
		if err != nil {
			t.Fatal(err)
		}
		if status.Signaled() != stopped || !stopped && status.ExitStatus() != 0 {
			t.Fatalf("epoch %d: the process ended with %v: %s", epoch, status, diskfault.Said(r.Steps))
		}
	}
	if strings.Contains(diskfault.Said(r.Steps), "error") {
		t.Fatalf("an operation failed: %s", diskfault.Said(r.Steps))
	}
	return recording{key, r.Steps}
}

// afterSteps returns a function that reports whether so many steps were made.
func afterSteps(steps int) func(n int, s diskfault.Step) bool {
	return func(n int, _ diskfault.Step) bool { return n >= steps }
}

func historyCommand(path string, key []byte, epoch int) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envHistory+"="+path, fmt.Sprintf("%s=e%d.", envHistoryName, epoch))
	if key != nil {
		cmd.Env = append(cmd.Env, envCrashKey+"=1")
	}
	cmd.Stderr = os.Stderr
	return cmd
}

// cuts returns n points at which the power fails, a fifth of them within the first 60
// steps, in which the store is created.
func (r recording) cuts(n int, seed uint64) []diskfault.Cut {
	return diskfault.Cuts(r.steps, n, 60, seed)
}

// fail simulates a power failure at each of the cuts and calls lost with the fault of the
// store that results, if there is one, until lost returns false.
func (r recording) fail(t *testing.T, cuts []diskfault.Cut, lost func(c diskfault.Cut, err error) bool) {
	t.Helper()
	err := diskfault.FailAt(r.steps, cuts, t.TempDir(), func(c diskfault.Cut, said, disk string) bool {
		acknowledged := map[string]acknowledgement{}
		parseAcknowledged(acknowledged, said)
		err := holdsAcknowledged(filepath.Join(disk, "test.db"), r.key, acknowledged)
		return err == nil || lost(c, err)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// parseAcknowledged parses the output of a process. "Done" stands for an operation whose
// commit failed at its end: it may be lost until another operation is done.
func parseAcknowledged(acknowledged map[string]acknowledgement, lines string) {
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		n, err := strconv.Atoi(words[len(words)-1])
		switch {
		case err != nil:
		case words[0] == "done":
			acknowledged[words[1]] = acknowledgement{n - 1, n}
		case words[0] == "same":
			if a := acknowledged[words[1]]; a.sure < a.seen {
				acknowledged[words[1]] = acknowledgement{a.sure, n} // it wrote nothing, so the one before is still not durable
			} else {
				acknowledged[words[1]] = acknowledgement{n, n}
			}
		default:
			acknowledged[words[0]] = acknowledgement{n, n}
		}
	}
}

// TestWhatWasAcknowledgedSurvivesAPowerFailure simulates power failures at random points
// of recordings, half of them of an encrypted store.
func TestWhatWasAcknowledgedSurvivesAPowerFailure(t *testing.T) {
	n, err := diskfault.NumCuts(defaultCuts)
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string][]byte{"plain": nil, "encrypted": testKey} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cuts, acknowledged, losses := 0, 0, 0
			for seed := uint64(1); cuts < n/2; seed++ {
				r := record(t, key, seed, afterSteps(1+int(seed)%makingSteps))
				list := r.cuts(min(cutsEach, n/2-cuts), seed)
				cuts += len(list)
				acknowledged += strings.Count(diskfault.Said(r.steps), "\n")
				r.fail(t, list, func(c diskfault.Cut, err error) bool {
					losses++
					t.Errorf("recording %d: the power fails after step %d of %d, seed %d: %v", seed, c.After, len(r.steps), c.Seed, err)
					return losses < 10
				})
			}
			t.Logf("%d cut points, %d operations acknowledged: %d losses", cuts, acknowledged, losses)
		})
	}
}

// TestNamesThatAKilledProcessGaveSurviveAPowerFailure kills a process that creates a store
// after it created a name and before it syncs the directory. The next process must sync
// it. (TestWhatWasAcknowledgedSurvivesAPowerFailure found that it did not.)
func TestNamesThatAKilledProcessGaveSurviveAPowerFailure(t *testing.T) {
	for name, c := range map[string]struct {
		key  []byte
		kind diskfault.Kind
	}{
		"audio":     {nil, diskfault.Mkdir},    // was lost after it was acknowledged
		"encrypted": {testKey, diskfault.Link}, // was refused: a key file, and no database
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := record(t, c.key, 1, func(_ int, s diskfault.Step) bool {
				return s.Call.Kind == c.kind && s.Call.To != "test.db.keyslots"
			})
			r.fail(t, r.cuts(100, 1), func(c diskfault.Cut, err error) bool {
				t.Errorf("the power fails after step %d of %d, seed %d: %v", c.After, len(r.steps), c.Seed, err)
				return false
			})
		})
	}
}

// plantedCuts is the number of power failures within which a planted fault must be
// detected. Chosen: all are detected within the first 100.
const plantedCuts = 1000

// TestPlantedPowerFaultsAreSeen removes syncs from recordings, as if the store did not
// make them. The checks after power failures must detect each.
func TestPlantedPowerFaultsAreSeen(t *testing.T) {
	recordings := map[bool]recording{false: record(t, nil, 1, afterSteps(makingSteps)), true: record(t, testKey, 1, afterSteps(makingSteps))}
	for name, plant := range map[string]struct {
		encrypted bool
		steps     func(steps []diskfault.Step) []diskfault.Step
	}{
		"the sync of the database":                      {false, withoutSyncs("test.db")},
		"the sync of a new database":                    {false, withoutSyncs("test.db.new-*")},
		"the sync of audio":                             {false, withoutSyncs("test.db.audio/*.part")},
		"the sync of the names of audio":                {false, withoutSyncs("test.db.audio")},
		"the sync of the name of the database":          {false, withoutSyncs(".")},
		"the sync of new key slots":                     {true, withoutSyncs("test.db.keyslots")},
		"the sync of a new key file":                    {true, withoutSyncsOf("test.db.keyslots")},
		"the removal of audio comes after the commit":   {false, audioFirst},
		"encrypted, the sync of the database":           {true, withoutSyncs("test.db")},
		"encrypted, the sync of audio":                  {true, withoutSyncs("test.db.audio/*.part")},
		"encrypted, the sync of the name of a key file": {true, withoutSyncs(".")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := recordings[plant.encrypted]
			r.steps = plant.steps(r.steps)
			r.wantFault(t)
		})
	}
}

// wantFault simulates power failures until a check detects the planted fault.
func (r recording) wantFault(t *testing.T) {
	t.Helper()
	for seed := range uint64(10) { // several lists, since each begins with early cuts
		seen := false
		r.fail(t, r.cuts(plantedCuts/10, seed), func(c diskfault.Cut, err error) bool {
			t.Logf("seen in round %d: step %d: %v", seed+1, c.After, err)
			seen = true
			return false
		})
		if seen {
			return
		}
	}
	t.Errorf("%d power failures did not reveal the planted fault", plantedCuts)
}

// withoutSyncs removes the syncs of files whose name matches.
func withoutSyncs(pattern string) func(steps []diskfault.Step) []diskfault.Step {
	return func(steps []diskfault.Step) []diskfault.Step { return diskfault.WithoutSyncs(steps, pattern) }
}

// withoutSyncsOf removes the syncs of a file before it got that name.
func withoutSyncsOf(name string) func(steps []diskfault.Step) []diskfault.Step {
	return func(steps []diskfault.Step) []diskfault.Step {
		file := -1
		for _, s := range steps {
			if s.Call.Kind == diskfault.Link && s.Call.To == name {
				file = s.Call.File
			}
		}
		return slices.DeleteFunc(slices.Clone(steps), func(s diskfault.Step) bool {
			return s.Call.Kind == diskfault.Sync && s.Call.File == file && s.Call.Name != name
		})
	}
}

// audioFirst moves the removal of audio before the transaction that removes the reference
// to it.
func audioFirst(steps []diskfault.Step) []diskfault.Step {
	steps = slices.Clone(steps)
	for i, s := range steps {
		if s.Call.Kind != diskfault.Unlink || !strings.HasSuffix(s.Call.Name, ".audio") {
			continue
		}
		j, syncs := i, 0
		for ; j > 0 && syncs < 2; j-- { // the syncs of the data pages and of the meta page
			if c := steps[j-1].Call; c.Kind == diskfault.Sync && c.Name == "test.db" && steps[j-1].Begin {
				syncs++
			}
		}
		copy(steps[j+1:i+1], steps[j:i])
		steps[j] = s
	}
	return steps
}
