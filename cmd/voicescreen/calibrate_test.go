package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// labelledDB makes a database of users of whom every second has a PHQ-9 of 18
// and pauses a standard deviation and a half longer than the others.
func labelledDB(t *testing.T, users int) string {
	t.Helper()
	prior, err := shippedPrior(screen.Depression)
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
			CreatedAt: at, UpdatedAt: at, SubmittedAt: at, Features: map[string]float64{}, Labels: screen.Labels{PHQ9: make([]int, 9), UpdatedAt: at},
		}
		for _, f := range prior.Features {
			z := rng.NormFloat64()
			if i%2 == 1 && strings.HasPrefix(f.Name, "pause.") {
				z += 1.5
			}
			s.Features[f.Name] = f.Female.Center + f.Female.Scale*z
		}
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
	if !strings.Contains(o.stdout, "depression: a new model is in use") || !strings.Contains(o.stdout, "anxiety: the model in use stays\n  fit: too few labels") {
		t.Errorf("got\n%s, want depression learned and anxiety left", o.stdout)
	}
	ok(t, "calibrate", "--db", db, "--task", "depression", "--revert")
	if o := cli(t, "calibrate", "--db", db, "--task", "depression", "--revert"); o.code != exitError || !strings.Contains(o.stderr, "was not learned") {
		t.Errorf("got %+v where nothing is left, want an error", o)
	}
	if o := cli(t, "calibrate", "--db", db, "--task", "anxiety", "--out", out); o.code != exitError || !strings.Contains(o.stderr, "too few labels") {
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
		"no database":      {nil, exitUsage, "--db is missing"},
		"not there":        {[]string{"--db", missing}, exitError, "there is no database"},
		"deepfake":         {[]string{"--db", missing, "--task", "deepfake"}, exitUsage, "does not learn"},
		"revert of what":   {[]string{"--db", missing, "--revert"}, exitUsage, "--task"},
		"out of both":      {[]string{"--db", missing, "--out", "x"}, exitUsage, "--task"},
		"no day":           {[]string{"--db", missing, "--since", "yesterday"}, exitUsage, "2026-01-31"},
		"a base rate of 2": {[]string{"--db", missing, "--base-rate", "depression=2"}, exitUsage, "--base-rate"},
	} {
		if o := cli(t, append([]string{"calibrate"}, c.args...)...); o.code != c.code || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%s: got %+v, want code %d and %q", name, o, c.code, c.want)
		}
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("a database was made")
	}
}

func TestSimulateCommand(t *testing.T) {
	args := []string{"simulate", "--labels", "0,60", "--replicates", "1", "--people", "50"}
	first := ok(t, args...).stdout
	for _, want := range []string{"depression: means over 1 populations", "as the prior says", "labels at random", "drifted", "| 60 |", "coverage"} {
		if !strings.Contains(first, want) {
			t.Errorf("got\n%s, want %q in it", first, want)
		}
	}
	if again := ok(t, args...).stdout; again != first {
		t.Errorf("got\n%s the second time, want\n%s", again, first)
	}
	if o := ok(t, append(args, "--task", "anxiety", "--json")...); !strings.Contains(o.stdout, `"category":"anxiety"`) {
		t.Errorf("got %s, want JSON", o.stdout)
	}
	for _, bad := range [][]string{{"--task", "deepfake"}, {"--labels", "-1"}, {"--replicates", "0"}} {
		if o := cli(t, append([]string{"simulate"}, bad...)...); o.code != exitUsage {
			t.Errorf("%v: got %+v, want a usage error", bad, o)
		}
	}
}

// DAM, which the engine does not know, is told the base rates when it is loaded.
func TestBaseRatesReachDAM(t *testing.T) {
	var f scoringFlags
	f.rates = []string{"anxiety=0.3", "depression=0.2"}
	var o voicescreen.ScoringOptions
	if err := f.set(&o); err != nil {
		t.Fatal(err)
	}
	if got := damOptions(o.BaseRates); got.Depression != 0.2 || got.Anxiety != 0.3 {
		t.Errorf("got %+v, want 0.2 and 0.3", got)
	}
	if got := damOptions(nil); got.Depression != 0 || got.Anxiety != 0 {
		t.Errorf("got %+v, want the model's own", got)
	}
}

// TestAnalyzeSaysWhatItWasTold checks the flags about the recording.
func TestAnalyzeSaysWhatItWasTold(t *testing.T) {
	const file = "../../testdata/interview_en.wav"
	plain := parseLines(t, ok(t, "analyze", "--json", file).stdout)[0]
	told := parseLines(t, ok(t, "analyze", "--json", "--gender", "male", "--base-rate", "depression=0.39", "--fixed-gain", "--baseline", file, file).stdout)[0]
	if plain.Scores[0].Baseline != 0 || told.Scores[0].Baseline != 1 || told.Scores[0].Probability < 2*plain.Scores[0].Probability {
		t.Errorf("got %+v, and told more %+v, want one earlier recording and a higher probability", plain.Scores[0], told.Scores[0])
	}
	for _, bad := range [][]string{{"--gender", "x"}, {"--base-rate", "deepfake=0.1"}, {"--base-rate", "anxiety"}} {
		if o := cli(t, append(append([]string{"analyze"}, bad...), file)...); o.code != exitUsage {
			t.Errorf("%v: got %+v, want a usage error", bad, o)
		}
	}
}
