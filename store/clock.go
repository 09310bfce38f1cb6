package store

import (
	"sync"
	"time"
)

// NewClock returns the clock of a store: now in UTC and whole microseconds. If
// now is nil it is the time of the machine, except that it never goes back:
// where the machine's clock is set back, it goes on by the time that passes
// until that clock is there again. An injected now is used as it is. The clock
// is safe for concurrent use if now is.
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

// forward is a clock that does not go back. It is safe for concurrent use.
type forward struct {
	read func() (shown time.Time, passed time.Duration) // the machine's clock, and a monotonic one

	mu     sync.Mutex // protects what follows
	shown  time.Time  // what read returned last
	passed time.Duration
	ahead  time.Duration // of the machine's clock, at that moment
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
