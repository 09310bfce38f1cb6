package store

import (
	"testing"
	"time"
)

// TestTheClockDoesNotGoBack sets the machine's clock back and forward, while the
// monotonic clock advances.
func TestTheClockDoesNotGoBack(t *testing.T) {
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	shown, passed := begin, time.Duration(0)
	f := &forward{read: func() (time.Time, time.Duration) { return shown, passed }}
	for _, step := range []struct {
		name          string
		shown, passed time.Duration // by how much the two clocks advance
		want          time.Duration // time since the beginning
	}{
		{"the first reading", 0, 0, 0},
		{"a second", time.Second, time.Second, time.Second},
		{"set back by an hour", -time.Hour, time.Second, 2 * time.Second},
		{"a minute", time.Minute, time.Minute, 62 * time.Second},
		{"set back once more", -time.Minute, 0, 62 * time.Second},
		{"set right", time.Hour + time.Minute, time.Second, 63 * time.Second},
		{"set ahead by an hour", time.Hour, time.Second, time.Hour + 61*time.Second},
		{"set right again", -time.Hour, time.Second, time.Hour + 62*time.Second},
	} {
		shown, passed = shown.Add(step.shown), passed+step.passed
		if got := f.now().Sub(begin); got != step.want {
			t.Errorf("%s: got %v since the beginning, want %v", step.name, got, step.want)
		}
	}
}

func TestTheClockShowsMicrosecondsInUTC(t *testing.T) {
	zone := time.FixedZone("elsewhere", 3600)
	now := NewClock(func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 1999, zone) })
	if got, want := now(), time.Date(2026, 3, 1, 11, 0, 0, 1000, time.UTC); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	before := time.Now().Add(-time.Millisecond)
	if got := NewClock(nil)(); got.Before(before) || got.After(time.Now()) || got.Location() != time.UTC {
		t.Errorf("got %v, want the time of the machine in UTC", got)
	}
}

func TestNoTwoCreationsHaveOneTime(t *testing.T) {
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var shown time.Time
	clock := NewCreationClock(func() time.Time { return shown })
	for _, step := range []struct {
		name        string
		shown, want time.Duration // since the beginning
	}{
		{"the first", 0, 0},
		{"at the same time", 0, time.Microsecond},
		{"and again", 0, 2 * time.Microsecond},
		{"before the clock is there", time.Microsecond, 3 * time.Microsecond},
		{"later", time.Second, time.Second},
		{"later, at the same time", time.Second, time.Second + time.Microsecond},
		{"the clock is set back", -time.Hour, -time.Hour},
		{"there, at the same time", -time.Hour, -time.Hour + time.Microsecond},
	} {
		shown = begin.Add(step.shown)
		if got := clock().Sub(begin); got != step.want {
			t.Errorf("%s: got %v since the beginning, want %v", step.name, got, step.want)
		}
	}
}
