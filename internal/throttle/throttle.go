// Package throttle limits how often a recurring error is logged.
package throttle

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Every is the shortest pause between two lines. Chosen: an operator sees that the
// error goes on, and still finds the other lines.
const Every = time.Minute

// Line is a line of a log that could be written too often. The zero value is ready,
// and safe for concurrent use.
type Line struct {
	mu      sync.Mutex // protects what follows
	last    time.Time  // when the line was written; zero: never
	skipped int        // calls of Log since then
}

// Log writes the line at the first call, and then once in Every, with the number of
// calls since the last line that wrote nothing, if there were any. It uses the
// monotonic clock.
func (l *Line) Log(log *slog.Logger, level slog.Level, msg string, args ...any) {
	skipped, due := l.due(time.Now())
	if !due {
		return
	}
	if skipped > 0 {
		args = append(args[:len(args):len(args)], "skipped", skipped)
	}
	log.Log(context.Background(), level, msg, args...)
}

// due counts a call, and says whether it writes the line.
func (l *Line) due(now time.Time) (skipped int, due bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.last.IsZero() && now.Sub(l.last) < Every {
		l.skipped++
		return 0, false
	}
	skipped = l.skipped
	l.last, l.skipped = now, 0
	return skipped, true
}
