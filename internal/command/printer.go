package command

import (
	"fmt"
	"io"
	"math"
)

// Printer prints to W until a write fails. Err is the error of that write.
type Printer struct {
	W   io.Writer
	Err error
}

// Printf is fmt.Fprintf to W, and does nothing after an error.
func (p *Printer) Printf(format string, args ...any) {
	if p.Err == nil {
		_, p.Err = fmt.Fprintf(p.W, format, args...)
	}
}

// Count returns a number of things as text, such as "1 session" or "2 sessions".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Text formats a measure for people. NaN and the infinities are "undefined".
func Text(v float64, format string) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "undefined"
	}
	return fmt.Sprintf(format, v)
}
