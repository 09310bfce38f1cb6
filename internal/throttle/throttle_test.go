package throttle

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestLine(t *testing.T) {
	var l Line
	begin := time.Now()
	for i, want := range []struct {
		after   time.Duration
		skipped int
		due     bool
	}{
		{0, 0, true}, {0, 0, false}, {Every - 1, 0, false}, {Every, 2, true}, {Every + 1, 0, false}, {3 * Every, 1, true}, {4 * Every, 0, true},
	} {
		if skipped, due := l.due(begin.Add(want.after)); skipped != want.skipped || due != want.due {
			t.Errorf("call %d: got %d %v, want %d %v", i, skipped, due, want.skipped, want.due)
		}
	}
}

// Of calls at once one writes the line, and the others are counted.
func TestLineConcurrently(t *testing.T) {
	var l Line
	var lines atomic.Int64
	var all sync.WaitGroup
	const calls = 100
	begin := time.Now()
	for range calls {
		all.Go(func() {
			if _, due := l.due(begin); due {
				lines.Add(1)
			}
		})
	}
	all.Wait()
	if skipped, due := l.due(begin.Add(Every)); lines.Load() != 1 || skipped != calls-1 || !due {
		t.Errorf("got %d lines, then %d %v, want 1, then %d true", lines.Load(), skipped, due, calls-1)
	}
}

func TestLog(t *testing.T) {
	var l Line
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	for range 3 {
		l.Log(log, slog.LevelWarn, "away", "error", "refused")
	}
	l.last = l.last.Add(-Every)
	l.Log(log, slog.LevelWarn, "away", "error", "refused")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.HasSuffix(lines[0], "level=WARN msg=away error=refused") || !strings.HasSuffix(lines[1], "error=refused skipped=2") {
		t.Errorf("got %q, want two lines, the second with the two that were skipped", lines)
	}
}
