package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/store/bolt"
)

func TestAdaptCommand(t *testing.T) {
	db := labelledDB(t, 200)
	out := filepath.Join(t.TempDir(), "adapted.json")
	o := ok(t, "adapt", "--db", db, "--task", "depression", "--dry-run", "--out", out, "--base-rate", "depression=0.5")
	for _, want := range []string{"the norms in use stay", "not activated, as asked", "200 recordings of 200 users in 1 account", "2026-04-01", "a base rate of 0.5 is allowed for", "held out, against the shipped norms"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("got\n%s, want %q in it", o.stdout, want)
		}
	}
	f, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(f), `"adapted"`) || strings.Contains(string(f), "user1") {
		t.Errorf("got error %v and\n%.300s, want adapted norms that name no user", err, f)
	}
	if s, err := models.LoadFile(out); err != nil || s.Info().Calibrated {
		t.Errorf("got %v and error %v, want a model in a file that is not calibrated", s, err)
	}
	if text := adaptedIn(t, db); text != "" {
		t.Errorf("a dry run left the models %.300s", text)
	}
	o = ok(t, "adapt", "--db", db)
	if !strings.Contains(o.stdout, "depression: adapted norms are in use\n  on held-out people the log density") || !strings.Contains(o.stdout, "the base rate is not stated") {
		t.Errorf("got\n%s, want depression adapted", o.stdout)
	}
	if text := adaptedIn(t, db); !strings.Contains(text, `"people": 200`) || strings.Contains(text, "user1") {
		t.Errorf("got the models %.300s, want those of 200 people who are not named", text)
	}
	if o := ok(t, "calibrate", "--db", db, "--task", "depression"); !strings.Contains(o.stdout, "+norms.") {
		t.Errorf("got\n%s, want a model learned on the adapted norms", o.stdout)
	}
	if o := ok(t, "adapt", "--db", db, "--task", "depression"); !strings.Contains(o.stdout, "wait for the next calibration") {
		t.Errorf("got\n%s, want the learned model kept", o.stdout)
	}
	for range 2 {
		ok(t, "adapt", "--db", db, "--task", "depression", "--revert")
	}
	if o := cli(t, "adapt", "--db", db, "--task", "depression", "--revert"); o.code != command.ExitError || !strings.Contains(o.stderr, "are the shipped ones") {
		t.Errorf("got %+v where nothing is left, want an error", o)
	}
	few := labelledDB(t, 29)
	if o := cli(t, "adapt", "--db", few, "--task", "anxiety", "--out", out); o.code != command.ExitError || !strings.Contains(o.stderr, "29 people, want 30") {
		t.Errorf("got %+v, want no file of what was not adapted", o)
	}
}

// adaptedIn returns the document of adapted models of a database.
func adaptedIn(t *testing.T, db string) string {
	t.Helper()
	st, err := bolt.Open(db, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	text, _, err := st.Document(t.Context(), "adapted-models")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAdaptErrors(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.db")
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no database":      {nil, command.ExitUsage, "--db is missing"},
		"not there":        {[]string{"--db", missing}, command.ExitError, "there is no database"},
		"deepfake":         {[]string{"--db", missing, "--task", "deepfake"}, command.ExitUsage, "does not learn"},
		"revert of what":   {[]string{"--db", missing, "--revert"}, command.ExitUsage, "--task"},
		"revert and since": {[]string{"--db", missing, "--task", "anxiety", "--revert", "--since", "2026-01-01"}, command.ExitUsage, "--since"},
		"out of both":      {[]string{"--db", missing, "--out", "x"}, command.ExitUsage, "--task"},
		"no day":           {[]string{"--db", missing, "--since", "yesterday"}, command.ExitUsage, "2026-01-31"},
		"a base rate of 2": {[]string{"--db", missing, "--base-rate", "depression=2"}, command.ExitUsage, "--base-rate"},
	} {
		if o := cli(t, append([]string{"adapt"}, c.args...)...); o.code != c.code || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%s: got %+v, want code %d and %q", name, o, c.code, c.want)
		}
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("a database was made")
	}
}
