// Package records reads CSV files from outside, a record at a time.
// encoding/csv alone takes a hundred times the size of a record of a million
// empty fields.
package records

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
)

const (
	// maxFields is how many separators a record may have, also in quotes.
	// Chosen: the widest table that is read has a tenth of it.
	maxFields = 1024

	// maxRecord is how many bytes a record may have. Chosen: ten times the
	// longest path, and more than anybody writes into a row.
	maxRecord = 64 << 10
)

// ErrTooLarge is what the error of a record that has too many fields or bytes
// wraps.
var ErrTooLarge = errors.New("a record is too large")

// Reader reads records as csv.Reader does, and takes memory for one at a time.
type Reader struct {
	csv   *csv.Reader
	lines *lines
}

// NewReader returns a Reader of a file whose fields are parted by comma, and
// of which every record has as many fields as the first.
func NewReader(r io.Reader, comma byte) *Reader {
	l := &lines{r: bufio.NewReader(r), comma: comma}
	c := csv.NewReader(l)
	c.Comma, c.ReuseRecord = rune(comma), true
	return &Reader{c, l}
}

// NewLazyReader is NewReader for a file whose records may have any number of
// fields, and quotes where they do not belong.
func NewLazyReader(r io.Reader, comma byte) *Reader {
	c := NewReader(r, comma)
	c.csv.FieldsPerRecord, c.csv.LazyQuotes = -1, true
	return c
}

// Read returns the next record, at the end io.EOF. The slice is valid until the
// next call, the strings for good.
func (r *Reader) Read() ([]string, error) {
	r.lines.bytes, r.lines.fields = 0, 0
	return r.csv.Read()
}

// Line is the line, from 1, on which the last record begins.
func (r *Reader) Line() int {
	line, _ := r.csv.FieldPos(0)
	return line
}

// lines passes a file on a line at a time, so that a csv.Reader has never more
// of it than the record that it reads.
type lines struct {
	r      *bufio.Reader
	comma  byte
	left   []byte // of what was read
	line   int    // how many were begun before
	bytes  int    // of the record so far
	fields int
}

func (l *lines) Read(b []byte) (int, error) {
	if len(l.left) == 0 {
		var err error
		l.left, err = l.r.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull && len(l.left) == 0 {
			return 0, err
		}
		l.bytes += len(l.left)
		l.fields += bytes.Count(l.left, []byte{l.comma})
		switch {
		case l.fields >= maxFields:
			return 0, fmt.Errorf("line %d: %w: more than %d fields", l.line+1, ErrTooLarge, maxFields)
		case l.bytes > maxRecord:
			return 0, fmt.Errorf("line %d: %w: more than %d bytes", l.line+1, ErrTooLarge, maxRecord)
		}
		l.line += bytes.Count(l.left, []byte{'\n'})
	}
	n := copy(b, l.left)
	l.left = l.left[n:]
	return n, nil
}
