package console

import "strings"

// Characters that begin and end an isolate: text whose direction is its own (UAX 9, 2.4).
const (
	leftToRightIsolate = '\u2066'
	rightToLeftIsolate = '\u2067'
	firstStrongIsolate = '\u2068'
	endOfIsolate       = '\u2069'
)

// isolate encloses a text in an isolate. A direction override in the text ends with it.
// Isolates that the text does not end are ended, and ends of isolates that it does not
// begin are left out: they would end the enclosing one.
func isolate(text string) string {
	var b strings.Builder
	b.WriteRune(firstStrongIsolate)
	begun := 1
	for _, r := range text {
		switch r {
		case leftToRightIsolate, rightToLeftIsolate, firstStrongIsolate:
			begun++
		case endOfIsolate:
			if begun == 1 {
				continue
			}
			begun--
		}
		b.WriteRune(r)
	}
	b.WriteString(strings.Repeat(string(endOfIsolate), begun))
	return b.String()
}
