package postgres

import (
	"sync/atomic"
	"time"

	"github.com/voicescreen/voicescreen/store"
)

// clock is the store's: that of the database server, which all replicas read, or
// an injected one. It does not go back in this process: where the server's clock
// is set back, it stands until that clock is there again. It is safe for
// concurrent use if injected is.
type clock struct {
	injected func() time.Time // nil for the server's clock
	creation func() time.Time // by which sessions are dated; nil if injected is
	shown    atomic.Int64     // the latest time that the server gave, in microseconds since 1970
}

// newClock returns the clock. Injected may be nil.
func newClock(injected func() time.Time) *clock {
	c := &clock{injected: injected}
	if injected != nil {
		c.creation = store.NewCreationClock(store.NewClock(injected))
	}
	return c
}

// args returns the first two arguments of statements that need the time, and
// the others behind them.
func (c *clock) args(others ...any) []any { return c.argsOf(c.injected, others) }

// creationArgs is args for a session that is created.
func (c *clock) creationArgs(others ...any) []any { return c.argsOf(c.creation, others) }

func (c *clock) argsOf(now func() time.Time, others []any) []any {
	var given, least *time.Time
	if now != nil {
		t := now()
		given = &t
	} else {
		t := time.UnixMicro(c.shown.Load())
		least = &t
	}
	return append([]any{given, least}, others...)
}

// created notes when a session was created: the next one is later, also where the
// server's clock stands.
func (c *clock) created(t time.Time) { c.saw(t.Add(time.Microsecond)) }

// saw notes a time that the server gave.
func (c *clock) saw(t time.Time) {
	for micro := t.UnixMicro(); ; {
		shown := c.shown.Load()
		if micro <= shown || c.shown.CompareAndSwap(shown, micro) {
			return
		}
	}
}
