package command

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode"
)

// Printer prints to W until a write fails. Err is the error of that write.
type Printer struct {
	W   io.Writer
	Err error
}

// Printf is fmt.Fprintf to W of [Printable] text, and does nothing after an error.
func (p *Printer) Printf(format string, args ...any) {
	if p.Err == nil {
		_, p.Err = io.WriteString(p.W, Printable(fmt.Sprintf(format, args...)))
	}
}

// Printable returns text in UTF-8 with U+FFFD in place of all control characters but tabs and
// line ends: the name of a file may hold any, and a terminal obeys them.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
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
