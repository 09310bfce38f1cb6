package store

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/voicescreen/voicescreen/screen"
)

// CheckDocument returns ErrInvalid, wrapped, if a document of this name and size, in
// bytes, cannot be stored. The name must be UTF-8 without NUL of 1 to
// screen.MaxDocumentName bytes, and the size at most screen.MaxDocument.
// Implementations of Document and PutDocument call it.
func CheckDocument(name string, size int) error {
	switch {
	case name == "" || len(name) > screen.MaxDocumentName:
		return fmt.Errorf("%w: the name of a document has %d bytes, want 1 to %d", ErrInvalid, len(name), screen.MaxDocumentName)
	case !isText(name):
		return fmt.Errorf("%w: the name of a document is not UTF-8 without NUL", ErrInvalid)
	case size > screen.MaxDocument:
		return fmt.Errorf("%w: a document has %d bytes, want at most %d", ErrInvalid, size, screen.MaxDocument)
	}
	return nil
}

// isText reports whether s is UTF-8 without NUL.
func isText(s string) bool { return strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) }
