//go:build unix

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A running server backs its database up. What it acknowledged before the time
// in the name of a backup has its result from the database that is restored.
func TestServeBacksUp(t *testing.T) {
	for name, digits := range map[string]string{"plain": "", "encrypted": strings.Repeat("c3", secretSize)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			in := func(name string) string { return filepath.Join(dir, name) }
			var storeKey []string
			if digits != "" {
				storeKey = []string{"--store-key", in("store.key")}
				if err := os.WriteFile(in("store.key"), []byte(digits), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Mkdir(in("backups"), 0o700); err != nil {
				t.Fatal(err)
			}
			key := strings.TrimSpace(ok(t, "keys", "create", "--keys", in("keys.json"), "--account", "clinic-a").stdout)
			args := append([]string{"--keys", in("keys.json")}, storeKey...)
			s := startServer(t, append(args, "--db", in("clinic.db"), "--backup", in("backups"), "--backup-every", "1s")...)
			at, backups := s.submitUntilBackups(key, in("backups"), 2)
			s.stop()
			if log := s.stderr.String(); strings.Contains(log, "level=ERROR") || strings.Contains(log, "patient-51") {
				t.Errorf("got log %s, want no error and no user", log)
			}

			last := backups[len(backups)-1]
			for _, path := range backups {
				if o := ok(t, append([]string{"db", "check", path}, storeKey...)...); !strings.Contains(o.stdout, ", 0 faults") {
					t.Errorf("%s: got %q, want no faults", path, o.stdout)
				}
			}
			ok(t, append([]string{"db", "restore", last, in("restored.db")}, storeKey...)...)
			moment, err := time.Parse(backupName, filepath.Base(last))
			if err != nil {
				t.Fatal(err)
			}
			s = startServer(t, append(args, "--db", in("restored.db"))...)
			n := 0
			for id, acknowledged := range at {
				if acknowledged.Before(moment) {
					n++
					s.result("/v2/predict/sessions/"+id, key, http.StatusExpectationFailed).want(t, "status", "failed")
				}
			}
			s.stop()
			if n == 0 {
				t.Errorf("none of %d sessions was acknowledged before %v: this shows nothing", len(at), moment)
			}
		})
	}
}

// submitUntilBackups submits recordings, too short for a score, until there are
// n backups in dir. It returns when each session was acknowledged, and the
// backups in the order of their times.
func (s *server) submitUntilBackups(key, dir string, n int) (at map[string]time.Time, backups []string) {
	s.t.Helper()
	recording := clip(read(s.t, short), 0.5)
	at = map[string]time.Time{}
	for end := time.Now().Add(resultTime); len(backups) < n; {
		if time.Now().After(end) {
			s.t.Fatalf("got backups %v after %v, want %d", backups, resultTime, n)
		}
		id := s.initiate("/v2/initiate", key, form, "user_id=patient-51&is_initiated=true")
		s.submit("/predict", key, id, recording, http.StatusAccepted)
		at[id] = time.Now()
		var err error
		if backups, err = filepath.Glob(filepath.Join(dir, "*.db")); err != nil {
			s.t.Fatal(err)
		}
	}
	return at, backups
}
