package voicescreentest

import (
	"sync"
	"time"
)

// Clock is a clock that stands still until it is set. Its method Now is for the
// options of a store and of an engine: what they put off, such as the second attempt
// at an analysis that failed, waits until Add. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex // protects now
	now time.Time
}

// NewClock returns a clock that shows noon of 2 January 2026, UTC.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)} }

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Add sets the clock ahead, or back for a negative d.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
