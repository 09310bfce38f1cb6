//go:build linux && amd64

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/httpadapter/webhook"
	"github.com/voicescreen/voicescreen/internal/proof/diskfault"
)

// smallFiles are the files that commands replace, and how they are read.
var smallFiles = map[string]func(path string) error{
	"keys.json":       func(path string) error { _, err := httpadapter.OpenKeys(path); return err },
	"thresholds.json": func(path string) error { _, err := readThresholds(path); return err },
	"webhooks.json":   func(path string) error { _, err := webhook.Open(path); return err },
}

// recordCommands records commands that replace small files, one process after
// the other. Some are killed after they wrote the new file, or after they gave
// it its name and before they made that durable; the next one goes on. What a
// command prints, and its end, is an acknowledgement; but not the figures of
// thresholds, which come before the file is touched.
func recordCommands(t *testing.T) []diskfault.Step {
	t.Helper()
	dir := t.TempDir()
	keys, hooks, thresholds := filepath.Join(dir, "keys.json"), filepath.Join(dir, "webhooks.json"), filepath.Join(dir, "thresholds.json")
	lab, scores := filepath.Join(t.TempDir(), "voicelab"), filepath.Join(t.TempDir(), "scores.csv")
	if err := build(lab, "../voicelab"); err != nil {
		t.Fatal(err)
	}
	write(t, scores, []byte("label,score\n"+strings.Repeat("0,0.1\n0,0.4\n1,0.3\n1,0.9\n", 10)))
	r := diskfault.NewRecorder(dir)
	for _, c := range []struct {
		kill diskfault.Kind // after the first call of this kind; 0 if it is not killed
		args []string
	}{
		{0, []string{"keys", "create", "--keys", keys, "--account", "a"}},
		{0, []string{"keys", "create", "--keys", keys, "--account", "b"}},
		{diskfault.Rename, []string{"keys", "create", "--keys", keys, "--account", "c"}},
		{0, []string{"keys", "revoke", "--keys", keys, "--account", "a"}},
		{diskfault.Write, []string{"keys", "revoke", "--keys", keys, "--account", "b"}},
		{0, []string{"keys", "revoke", "--keys", keys, "--account", "b"}},
		{0, []string{"webhooks", "set", "--webhooks", hooks, "--account", "a", "--url", "https://a.example/hook"}},
		{diskfault.Rename, []string{"webhooks", "set", "--webhooks", hooks, "--account", "b", "--url", "https://b.example/hook"}},
		{0, []string{"webhooks", "rotate", "--webhooks", hooks, "--account", "a"}},
		{0, []string{"webhooks", "remove", "--webhooks", hooks, "--account", "a"}},
		{0, []string{"thresholds", "--task", "anxiety", "--scores", scores, "--account", "a", "--out", thresholds}},
		{diskfault.Rename, []string{"thresholds", "--task", "anxiety", "--scores", scores, "--account", "b", "--out", thresholds}},
		{diskfault.Write, []string{"thresholds", "--task", "depression", "--scores", scores, "--account", "a", "--out", thresholds}},
		{0, []string{"thresholds", "--task", "depression", "--scores", scores, "--account", "a", "--out", thresholds}},
	} {
		stopped := false
		r.Stop = func(s diskfault.Step) bool {
			stopped = stopped || c.kill != 0 && s.Call.Kind == c.kill && !s.Call.Failed
			return stopped
		}
		before := len(r.Steps)
		program := built
		if c.args[0] == "thresholds" { // the laboratory writes a file that the service reads
			program = lab
		}
		cmd := exec.Command(program, c.args...)
		status, err := r.Run(cmd)
		if err != nil || status.Signaled() != (c.kill != 0) || !status.Signaled() && status.ExitStatus() != 0 {
			t.Fatalf("%v: got %v and error %v", c.args, status, err)
		}
		if c.args[0] == "thresholds" {
			figures := func(s diskfault.Step) bool { return s.Call.Kind == diskfault.Say }
			r.Steps = append(r.Steps[:before], slices.DeleteFunc(r.Steps[before:], figures)...)
		}
		if c.kill == 0 {
			r.Steps = append(r.Steps, diskfault.Step{Call: &diskfault.Call{Kind: diskfault.Say, Data: []byte("done\n")}})
		}
	}
	return r.Steps
}

// version is a content that a file got by a step.
type version struct {
	step    int
	content string
}

// versions returns those of a file that others replace, oldest first.
func versions(steps []diskfault.Step, name string) (list []version) {
	written := map[int]string{}
	for i, s := range steps {
		switch c := s.Call; {
		case c.Failed:
		case c.Kind == diskfault.Write:
			written[c.File] += string(c.Data)
		case c.Kind == diskfault.Rename && c.To == name:
			list = append(list, version{i, written[c.File]})
		}
	}
	return list
}

// holdsFiles looks at the small files on a disk after the power failed: each has
// the version of the last acknowledgement or a later one, and can be read.
func holdsFiles(steps []diskfault.Step, disk string) error {
	told := 0
	for i, s := range steps {
		if s.Call.Kind == diskfault.Say {
			told = i
		}
	}
	for name, read := range smallFiles {
		list := versions(steps, name)
		sure := 0 // how many versions were told of
		for sure < len(list) && list[sure].step < told {
			sure++
		}
		path := filepath.Join(disk, name)
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) && sure == 0 {
			continue
		}
		if err != nil {
			return err
		}
		if err := read(path); err != nil {
			return err
		}
		if !slices.ContainsFunc(list[max(sure-1, 0):], func(v version) bool { return v.content == string(content) }) {
			return fmt.Errorf("%s has %d bytes that are not version %d or a later one", name, len(content), sure)
		}
	}
	return nil
}

// lostFiles lets the power fail at n points and returns what is wrong then, up
// to enough.
func lostFiles(t *testing.T, steps []diskfault.Step, n, enough int) []error {
	t.Helper()
	losses, err := diskfault.Losses(steps, diskfault.Cuts(steps, n, len(steps), 1), t.TempDir(), enough, func(c diskfault.Cut, _, disk string) error {
		return holdsFiles(steps[:c.After], disk)
	})
	if err != nil {
		t.Fatal(err)
	}
	return losses
}

// TestSmallFilesSurviveAPowerFailure lets the power fail at random points of
// commands that change key files, webhooks and thresholds, and shows that each sync that they make would be missed.
func TestSmallFilesSurviveAPowerFailure(t *testing.T) {
	n, err := diskfault.NumCuts(100)
	if err != nil {
		t.Fatal(err)
	}
	steps := recordCommands(t)
	losses := lostFiles(t, steps, n, 10)
	for _, err := range losses {
		t.Error(err)
	}
	changes := 0
	for name := range smallFiles {
		changes += len(versions(steps, name))
	}
	if changes < 14 {
		t.Errorf("the commands replaced files %d times, want 14 or more", changes)
	}
	t.Logf("%d cut points, %d changes: %d losses", n, changes, len(losses))
	for what, file := range map[string]string{"new files": "*.tmp", "names": "."} {
		planted := lostFiles(t, diskfault.WithoutSyncs(steps, file), 1000, 1)
		if len(planted) == 0 {
			t.Errorf("the power failed at 1,000 points, and nobody missed the sync of %s", what)
		}
		t.Logf("without the sync of %s: %v", what, planted)
	}
}
