package voicescreen_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

// TestBaselinePassesOverDamage submits three recordings of a user, damages the
// record of the second, and compares others with what is left.
func TestBaselinePassesOverDamage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	clock := newClock()
	o := testOptions()
	o.Store.Now = clock.Now
	o.Scoring.Baseline = true
	e := open(t, path, o)
	file := encodeWAV(44100, 1, threeSeconds())
	run := func(want int) (id string) {
		t.Helper()
		clock.Add(time.Minute)
		id = initiate(t, e, "u")
		submit(t, e, id, file)
		if r := wait(t, e, id); r.Status != screen.StatusSuccess || r.Scores[0].Baseline != want {
			t.Fatalf("got %+v with failure %+v, want it compared with %d", r, r.Failure, want)
		}
		return id
	}
	run(0)
	lost := run(1)
	run(2)
	closeEngine(t, e)
	damage(t, path, lost)
	e = open(t, path, o)
	for want := 1; want <= 5; want++ {
		run(want)
	}
	run(5)
}

// TestBaselineIsTheUsersOwnSessions submits one recording three times, by two
// users.
func TestBaselineIsTheUsersOwnSessions(t *testing.T) {
	t.Parallel()
	clock := newClock()
	o := testOptions()
	o.Scoring.Models = nil
	st := newMemory(t)
	setClock(o, st, clock)
	e := newEngine(t, st, o)
	file := encodeWAV(44100, 1, threeSeconds())
	run := func(user string, opts *voicescreen.SubmitOptions) screen.Score {
		clock.Add(time.Minute)
		id, err := e.Initiate(t.Context(), voicescreen.InitiateRequest{UserID: user, Consent: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Submit(t.Context(), id, strings.NewReader(string(file)), opts); err != nil {
			t.Fatal(err)
		}
		r := wait(t, e, id)
		if len(r.Scores) == 0 {
			t.Fatalf("got failure %+v", r.Failure)
		}
		return r.Scores[0]
	}
	own := &voicescreen.SubmitOptions{Baseline: true}
	if s := run("one", own); s.Baseline != 0 {
		t.Errorf("the first recording was compared with %d", s.Baseline)
	}
	if s := run("two", own); s.Baseline != 0 {
		t.Errorf("another user's recording was compared with %d", s.Baseline)
	}
	if s := run("one", nil); s.Baseline != 0 {
		t.Errorf("a recording was compared with %d unasked", s.Baseline)
	}
	if s := run("one", own); s.Baseline != 2 {
		t.Errorf("the third recording was compared with %d, want 2", s.Baseline)
	}
}

// TestBaseRatesMoveProbabilities says that a base rate reaches the scores.
func TestBaseRatesMoveProbabilities(t *testing.T) {
	t.Parallel()
	score := func(rate float64) screen.Score {
		o := idle()
		if rate > 0 {
			o.Scoring.BaseRates = map[screen.Category]float64{screen.Depression: rate}
		}
		return inUse(t, newEngine(t, newMemory(t), o))
	}
	usual, clinic := score(0), score(0.39)
	if clinic.Probability < 3*usual.Probability || clinic.Severity != usual.Severity || clinic.Decision != usual.Decision {
		t.Errorf("got %+v, and %+v at a base rate of 0.39, want a higher probability of the same class", usual, clinic)
	}
}
