//go:build linux && amd64

package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/diskfault"
)

const (
	defaultCuts = 100
	// cutsEach is how many of them are in one recording. Chosen: recording
	// costs as much as some hundred of them.
	cutsEach = 125
	// openingSteps is at least how many steps the first opening of a log takes.
	openingSteps = 12
)

// recordAppends records three processes that append to one log: the first is
// killed after a number of steps, most of them while it opens the log, the
// others in the midst of their work.
func recordAppends(t *testing.T, first int) []diskfault.Step {
	t.Helper()
	dir := t.TempDir()
	r := diskfault.NewRecorder(dir)
	for _, steps := range []int{first, 150, 150} {
		from := len(r.Steps)
		r.Stop = func(diskfault.Step) bool { return len(r.Steps)-from >= steps }
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), envAppend+"="+filepath.Join(dir, "audit.log"))
		if status, err := r.Run(cmd); err != nil || !status.Signaled() {
			t.Fatalf("got %v and error %v: %s", status, err, diskfault.Said(r.Steps))
		}
	}
	return r.Steps
}

// holdsAcknowledged opens a log, goes on with it and looks for the events that
// were acknowledged.
func holdsAcknowledged(t *testing.T, name string, said string) error {
	acknowledged := strings.Fields(said)
	if h, _, err := readHead(name, newSealer(nil)); err == nil && h == (Head{}) && len(acknowledged) > 0 {
		return fmt.Errorf("after %d events: no head", len(acknowledged))
	}
	l, err := Open(name, nil)
	if err != nil {
		return fmt.Errorf("after %d events: %w", len(acknowledged), err)
	}
	err = l.Append(Event{Action: "test", Session: "after"})
	if _, cerr := l.Close(); err != nil || cerr != nil {
		return errors.Join(err, cerr)
	}
	if _, err := Verify([]string{name}, nil); err != nil {
		return err
	}
	found := map[string]int{}
	for _, r := range records(t, name) {
		found[r.Session]++
	}
	for _, s := range acknowledged {
		if found[s]--; found[s] < 0 {
			return fmt.Errorf("event %s is lost, of %d", s, len(acknowledged))
		}
	}
	return nil
}

// lost lets the power fail at cuts and returns what is wrong then.
func lost(t *testing.T, steps []diskfault.Step, cuts []diskfault.Cut, enough int) []error {
	t.Helper()
	losses, err := diskfault.Losses(steps, cuts, t.TempDir(), enough, func(_ diskfault.Cut, said, disk string) error {
		name := filepath.Join(disk, "audit.log")
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) && said == "" {
			return nil
		}
		return holdsAcknowledged(t, name, said)
	})
	if err != nil {
		t.Fatal(err)
	}
	return losses
}

// TestWhatWasAcknowledgedSurvivesAPowerFailure lets the power fail at random
// points of what processes appended.
func TestWhatWasAcknowledgedSurvivesAPowerFailure(t *testing.T) {
	n, err := diskfault.NumCuts(defaultCuts)
	if err != nil {
		t.Fatal(err)
	}
	cuts, events, losses := 0, 0, 0
	for seed := uint64(1); cuts < n && losses == 0; seed++ {
		steps := recordAppends(t, 1+int(seed)%openingSteps)
		list := diskfault.Cuts(steps, min(cutsEach, n-cuts), 2*openingSteps, seed)
		cuts += len(list)
		events += len(strings.Fields(diskfault.Said(steps)))
		for _, err := range lost(t, steps, list, 10) {
			losses++
			t.Errorf("recording %d: %v", seed, err)
		}
	}
	t.Logf("%d cut points, %d events acknowledged: %d losses", cuts, events, losses)
}

// plantedCuts is at how many points the power fails at most until a planted
// fault must have been seen. Chosen: each is seen within the first 50.
const plantedCuts = 500

// TestPlantedPowerFaultsAreSeen leaves syncs out of what was recorded, as if the
// log did not make them.
func TestPlantedPowerFaultsAreSeen(t *testing.T) {
	steps := recordAppends(t, openingSteps)
	for what, file := range map[string]string{"records": "audit.log", "the first head": "audit.log" + headSuffix, "names": "."} {
		planted := diskfault.WithoutSyncs(steps, file)
		losses := lost(t, planted, diskfault.Cuts(planted, plantedCuts, 2*openingSteps, 1), 1)
		if len(losses) == 0 {
			t.Errorf("the power failed at %d points, and nobody missed the sync of %s", plantedCuts, what)
		}
		t.Logf("without the sync of %s: %v", what, losses)
	}
}
