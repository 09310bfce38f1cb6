package postgres

import (
	"sync/atomic"
	"time"
)

// clock is the store's: that of the database server, which all replicas read, or
// an injected one. It does not go back in this process: where the server's clock
// is set back, it stands until that clock is there again. It is safe for
// concurrent use if injected is.
type clock struct {
	injected func() time.Time // nil for the server's clock
	shown    atomic.Int64     // the latest time that the server gave, in microseconds since 1970
}

// args returns the first two arguments of statements that need the time, and
// the others behind them.
func (c *clock) args(others ...any) []any {
	var given, least *time.Time
	if c.injected != nil {
		t := c.injected()
		given = &t
	} else {
		t := time.UnixMicro(c.shown.Load())
		least = &t
	}
	return append([]any{given, least}, others...)
}

// saw notes a time that the server gave.
func (c *clock) saw(t time.Time) {
	for micro := t.UnixMicro(); ; {
		shown := c.shown.Load()
		if micro <= shown || c.shown.CompareAndSwap(shown, micro) {
			return
		}
	}
}
