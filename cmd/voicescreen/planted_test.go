//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// plantedKills is how many kills it may take until a planted fault is seen.
// Chosen: those below are seen within the first few.
const plantedKills = 60

// envPlanted names the fault that the program of buildPlanted has.
const envPlanted = "VOICESCREEN_TEST_PLANTED"

// plantedFault is a change of the program's source.
type plantedFault struct {
	file    string      // relative to the root of the module
	changes [][2]string // text that stands there once, and what replaces it; FAULT is whether the fault is asked for
	says    string      // pattern of what somebody who notices says
}

var plantedFaults = map[string]plantedFault{
	"a submission is acknowledged before it is stored": {
		file: "submit.go",
		changes: [][2]string{
			{"import (", "import (\n\t\"os\""},
			{"if err := a.enqueue(ctx, sessionID, got, &o); err != nil {",
				`enqueue := a.enqueue
				if FAULT {
					enqueue = func(context.Context, string, received, *SubmitOptions) error {
						time.AfterFunc(100*time.Millisecond, func() { _ = a.enqueue(context.Background(), sessionID, got, &o) })
						return nil
					}
				}
				if err := enqueue(ctx, sessionID, got, &o); err != nil {`},
		},
		says: "its recording is lost|feedback of session .* got status 409",
	},
	"audio is removed before the commit": {
		file: "store/bolt/change.go",
		changes: [][2]string{
			{"import (", "import (\n\t\"os\"\n\t\"time\""},
			{"b.afterCommit = append(b.afterCommit, func() { _ = c.store.audio.Release(ref) })",
				`if FAULT {
					_ = c.store.audio.Release(ref)
					time.Sleep(20 * time.Millisecond)
				} else {
					b.afterCommit = append(b.afterCommit, func() { _ = c.store.audio.Release(ref) })
				}`},
		},
		says: "its audio is missing",
	},
	"nothing is swept at the start": {
		file:    "store/audio/dir.go",
		changes: [][2]string{{"_ = d.removeAll(gone)", "if !(FAULT) {\n_ = d.removeAll(gone)\n}"}},
		says:    "unfinished audio files",
	},
}

// TestPlantedFaultsAreSeenUnderKills builds the program with faults in it and kills that.
func TestPlantedFaultsAreSeenUnderKills(t *testing.T) {
	t.Parallel()
	program := buildPlanted(t)
	for name, fault := range plantedFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSiege(t, program, nil, 1)
			s.env = []string{envPlanted + "=" + name}
			faults := s.run(plantedKills)
			if text := strings.Join(faults, "\n"); !regexp.MustCompile(fault.says).MatchString(text) {
				t.Errorf("after %d kills: got %q, want %q", plantedKills, text, fault.says)
			} else {
				t.Log(faults[0])
			}
		})
	}
}

// buildPlanted builds the program with all faults. A process of it has the one that
// envPlanted names.
func buildPlanted(t testing.TB) (program string) {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	replaced := map[string]string{} // file by file
	for name, f := range plantedFaults {
		original, planted := filepath.Join(root, f.file), filepath.Join(dir, filepath.Base(f.file))
		write(t, planted, []byte(f.plant(t, name, string(read(t, original)))))
		replaced[original] = planted
	}
	overlay := filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]map[string]string{"Replace": replaced})
	if err := errors.Join(err, os.WriteFile(overlay, list, 0o600)); err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "voicescreen.exe")
	if err := build(program, ".", "-overlay="+overlay); err != nil {
		t.Fatal(err)
	}
	return program
}

// plant returns the text of the file with the fault in it.
func (f plantedFault) plant(t testing.TB, name, text string) string {
	t.Helper()
	for _, c := range f.changes {
		if n := strings.Count(text, c[0]); n != 1 {
			t.Fatalf("%s: %q stands there %d times, want once: plant the fault elsewhere", f.file, c[0], n)
		}
		faulty := strings.ReplaceAll(c[1], "FAULT", fmt.Sprintf("os.Getenv(%q) == %q", envPlanted, name))
		text = strings.Replace(text, c[0], faulty, 1)
	}
	return text
}
