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

// A server with a key for its database gives its results after the next start,
// without the key it does not start, and neither prints the key.
func TestServeWithAStoreKey(t *testing.T) {
	dir := t.TempDir()
	db, keyFile, storeKey := filepath.Join(dir, "clinic.db"), filepath.Join(dir, "keys.json"), filepath.Join(dir, "store.key")
	digits := strings.Repeat("c3", secretSize)
	if err := os.WriteFile(storeKey, []byte(digits+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	key := strings.TrimSpace(ok(t, "keys", "create", "--keys", keyFile, "--account", "clinic-a").stdout)
	args := []string{"--db", db, "--keys", keyFile}
	s := startServer(t, append(args, "--store-key", storeKey)...)
	id := s.initiate("/initiate", key, js, `{"user_id":"patient-31","is_initiated":true}`)
	s.submit("/predict", key, id, read(t, short), http.StatusAccepted)
	s.result("/predict/sessions/"+id, key, http.StatusOK).want(t, "status", "success")
	s.stop()
	if strings.Contains(string(read(t, db)), "patient-31") {
		t.Error("the database holds the user's name")
	}
	for _, env := range []string{"", strings.Repeat("00", secretSize), digits} {
		cmd := exec.Command(built, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
		cmd.Env = append(os.Environ(), envStoreKey+"="+env)
		if env == digits {
			cmd.Args = append(cmd.Args, "--store-key", filepath.Join(dir, "none")) // what is named counts
		}
		out, err := cmd.CombinedOutput()
		exit, isExit := err.(*exec.ExitError)
		if !isExit || exit.ExitCode() != command.ExitError || strings.Contains(string(out), digits) || env != digits && !strings.Contains(string(out), "encrypted") {
			t.Errorf("key %q: got %v and %s, want an error about the key", env, err, out)
		}
	}
	t.Setenv(envStoreKey, digits)
	s = startServer(t, args...)
	s.result("/predict/sessions/"+id, key, http.StatusOK).want(t, "status", "success")
	s.stop()
}
