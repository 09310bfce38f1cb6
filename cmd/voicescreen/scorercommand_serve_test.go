//go:build unix

package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/command"
)

// TestServeWithAScorerCommand: a server that gets the command in its environment answers
// the scores of the program, and does not start with one that fails.
func TestServeWithAScorerCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keyFile := filepath.Join(dir, "keys.json")
	key := strings.TrimSpace(ok(t, "keys", "create", "--keys", keyFile, "--account", "clinic-a").stdout)
	serve := func(run string) *exec.Cmd {
		cmd := exec.Command(built, "serve", "--addr", "127.0.0.1:0", "--db", filepath.Join(dir, "clinic.db"), "--keys", keyFile)
		cmd.Env = append(os.Environ(), "VOICESCREEN_SCORER_COMMAND="+run, "TMPDIR="+dir)
		return cmd
	}
	out, err := serve("/bin/false").CombinedOutput()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != command.ExitError || !strings.Contains(string(out), "the program ended: exit status 1") {
		t.Errorf("got %v, %s, want the end of the program", err, out)
	}
	s := startCommand(t, serve(scoringCommand(t, "0.875")))
	id := s.initiate("/initiate", key, js, `{"user_id":"patient-19","is_initiated":true}`)
	s.submit("/predict", key, id, read(t, short), http.StatusAccepted)
	r := s.result("/v2/predict/sessions/"+id, key, http.StatusOK)
	if got := r["predicted_deepfake_score"]; got != 87.5 && got != 88.0 {
		t.Errorf("got the score %v, want 87.5 or rounded", got)
	}
	s.stop()
	if left, _ := filepath.Glob(filepath.Join(dir, "voicescreen-scorer-*")); len(left) > 0 {
		t.Errorf("got %v after the end, want no working directory", left)
	}
}
