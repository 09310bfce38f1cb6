package voicescreen_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
)

// TestBaselinePassesOverDamage submits three recordings of a user, damages the
// record of the second, and compares others with what is left.
func TestBaselinePassesOverDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	clock := newClock()
	o := testOptions()
	o.Store.Now = clock.Now
	o.Scoring.Baseline = true
	e := open(t, path, o)
	file := encodeWAV(44100, 1, syllables(44100, 3))
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
