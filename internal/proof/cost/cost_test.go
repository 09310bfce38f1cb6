package cost

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// recorder is a test that keeps what it is told.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Helper()                        {}
func (r *recorder) Errorf(format string, a ...any) { r.said += fmt.Sprintf(format, a...) }

var sink []byte

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		n    int
		f    func() int
		says string // "" is nothing
	}{
		"within the slack":  {0, func() int { sink = make([]byte, Slack*9/10); return 0 }, ""},
		"beyond the slack":  {0, func() int { sink = make([]byte, Slack*11/10); return 0 }, "allocate"},
		"in proportion":     {1 << 20, func() int { sink = make([]byte, PerByte<<20); return 0 }, ""},
		"out of proportion": {1 << 20, func() int { sink = make([]byte, (PerByte+2)<<20); return 0 }, "allocate"},
		"with its result":   {1 << 20, func() int { sink = make([]byte, (PerByte+2)<<20); return 2 << 20 }, ""},
		"many small ones":   {0, func() int { return small(20000) }, "allocate"},
		"quick":             {0, func() int { return spin(TimeSlack / 10) }, ""},
		"far too long":      {0, func() int { return spin(raceFactor * TimeSlack * 11 / 10) }, "processor time"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{TB: t}
			CheckResult(r, c.n, c.f)
			if (c.says == "") != (r.said == "") || !strings.Contains(r.said, c.says) {
				t.Errorf("got %q, want %q", r.said, c.says)
			}
		})
	}
}

// small allocates n slices of 100 bytes.
func small(n int) int {
	for range n {
		sink = make([]byte, 100)
	}
	return 0
}

// spin takes so much processor time.
func spin(d time.Duration) int {
	for end := processorTime() + d; processorTime() < end; {
		sink = sink[:0]
	}
	return 0
}
