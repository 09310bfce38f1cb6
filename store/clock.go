package store

import (
	"sync"
	"time"
)

// NewClock returns the clock of a store, which returns the time of now in UTC,
// rounded down to whole microseconds. If now is nil the clock is that of the machine,
// but does not go back: after the machine's clock was set back, it advances with the
// monotonic clock until the machine's clock has caught up. A clock that is not nil
// may go back. The clock is safe for concurrent use if now is.
func NewClock(now func() time.Time) func() time.Time {
	if now == nil {
		start := time.Now()
		f := &forward{read: func() (time.Time, time.Duration) {
			t := time.Now()
			return t.Round(0), t.Sub(start)
		}}
		now = f.now
	}
	return func() time.Time { return now().UTC().Truncate(time.Microsecond) }
}

// NewCreationClock returns the clock by which a store dates the sessions that it
// creates: it shows now, and a microsecond more than the last time it showed where
// now shows the same. So a listing has the order of creation. Where an injected
// now goes back, it goes back too. It is safe for concurrent use if now is.
func NewCreationClock(now func() time.Time) func() time.Time {
	var mu sync.Mutex // protects what follows
	var read, shown time.Time
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		t := now()
		switch {
		case t.Before(read), t.After(shown):
			shown = t
		default:
			shown = shown.Add(time.Microsecond)
		}
		read = t
		return shown
	}
}

// forward is a clock that does not go back. It is safe for concurrent use.
type forward struct {
	read func() (shown time.Time, passed time.Duration) // the machine's clock, and a monotonic one

	mu     sync.Mutex    // protects the fields below
	shown  time.Time     // as read returned last
	passed time.Duration // as read returned last
	ahead  time.Duration // how far this clock was ahead of the machine's then
}

func (f *forward) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	shown, passed := f.read()
	if !f.shown.IsZero() {
		f.ahead = max(0, f.ahead+(passed-f.passed)-shown.Sub(f.shown))
	}
	f.shown, f.passed = shown, passed
	return shown.Add(f.ahead)
}
