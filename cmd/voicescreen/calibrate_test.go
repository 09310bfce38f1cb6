package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// labelledDB makes a database of users of whom every second has a PHQ-9 of 18
// and pauses a standard deviation and a half longer than the others.
func labelledDB(t *testing.T, users int) string {
	t.Helper()
	prior, err := command.ShippedPrior(screen.Depression)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "clinic.db")
	st, err := bolt.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	at := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	for i := range users {
		s := &store.Session{
			Account: "clinic", ID: fmt.Sprint("session", i), UserID: fmt.Sprint("user", i), Status: screen.StatusSuccess, Product: screen.DepressionAnxiety,
			CreatedAt: at, UpdatedAt: at, SubmittedAt: at, Labels: screen.Labels{PHQ9: make([]int, 9), UpdatedAt: at},
		}
		v := features.VoiceSchema().Vector(nil)
		for _, f := range prior.Features {
			z := rng.NormFloat64()
			if i%2 == 1 && strings.HasPrefix(f.Name, "pause.") {
				z += 1.5
			}
			f.Put(v, f.Norms.Free.Female.Center+f.Norms.Free.Female.Scale*z)
		}
		s.Features = v.Map()
		if i%2 == 1 {
			s.Labels.PHQ9 = []int{2, 2, 2, 2, 2, 2, 2, 2, 2}
		}
		if err := st.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCalibrateCommand(t *testing.T) {
	db := labelledDB(t, 200)
	out := filepath.Join(t.TempDir(), "learned.json")
	o := ok(t, "calibrate", "--db", db, "--task", "depression", "--dry-run", "--out", out)
	for _, want := range []string{"the model in use stays", "relearned", "200 sessions of 200 users in 1 account", "labels: 200 PHQ-9", "2026-04-01", "held out, new"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("got\n%s, want %q in it", o.stdout, want)
		}
	}
	if s, err := models.LoadFile(out); err != nil || !s.Info().Calibrated {
		t.Errorf("got %v and error %v, want the learned model in a file", s, err)
	}
	if text := learnedIn(t, db, nil); text != "" {
		t.Errorf("a dry run left the models %s", text)
	}
	o = ok(t, "calibrate", "--db", db)
	if !strings.Contains(o.stdout, "depression: a new model is in use") || !strings.Contains(o.stdout, "anxiety: the model in use stays\n  learn: too few labels") {
		t.Errorf("got\n%s, want depression learned and anxiety left", o.stdout)
	}
	ok(t, "calibrate", "--db", db, "--task", "depression", "--revert")
	if o := cli(t, "calibrate", "--db", db, "--task", "depression", "--revert"); o.code != command.ExitError || !strings.Contains(o.stderr, "was not learned") {
		t.Errorf("got %+v where nothing is left, want an error", o)
	}
	if o := cli(t, "calibrate", "--db", db, "--task", "anxiety", "--out", out); o.code != command.ExitError || !strings.Contains(o.stderr, "too few labels") {
		t.Errorf("got %+v, want no file of what was not learned", o)
	}
}

func TestCalibrateErrors(t *testing.T) {
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
		"out of both":      {[]string{"--db", missing, "--out", "x"}, command.ExitUsage, "--task"},
		"no day":           {[]string{"--db", missing, "--since", "yesterday"}, command.ExitUsage, "2026-01-31"},
		"a base rate of 2": {[]string{"--db", missing, "--base-rate", "depression=2"}, command.ExitUsage, "--base-rate"},
	} {
		if o := cli(t, append([]string{"calibrate"}, c.args...)...); o.code != c.code || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%s: got %+v, want code %d and %q", name, o, c.code, c.want)
		}
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("a database was made")
	}
}
