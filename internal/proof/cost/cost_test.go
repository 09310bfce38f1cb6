package cost

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// recorder is a testing.TB that keeps the errors reported to it.
type recorder struct {
	testing.TB
	errors string
}

func (r *recorder) Helper()                        {}
func (r *recorder) Errorf(format string, a ...any) { r.errors += fmt.Sprintf(format, a...) }

var sink []byte

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		n    int
		f    func() int
		want string // a part of the error; "" for none
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
			if (c.want == "") != (r.errors == "") || !strings.Contains(r.errors, c.want) {
				t.Errorf("got %q, want %q", r.errors, c.want)
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

// spin uses so much processor time.
func spin(d time.Duration) int {
	for end := processorTime() + d; processorTime() < end; {
		sink = sink[:0]
	}
	return 0
}
