package manifest

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

const (
	// maxBytes is the size of the largest table. Chosen: a hundred bytes for each
	// of 600,000 recordings.
	maxBytes = 64 << 20

	// maxColumns is how many columns a table may have. Chosen: the widest table
	// that is read has a tenth of it.
	maxColumns = 1024

	// maxFound is how many bytes of a header an error shows. Chosen: a few lines
	// of a terminal.
	maxFound = 300
)

var (
	errTooLarge = fmt.Errorf("the table has more than %d MiB", maxBytes>>20)
	errEmpty    = errors.New("the table is empty")
)

// A Table reads the rows of a CSV file under a header. It is not safe for
// concurrent use.
type Table struct {
	Head []string // the header as the file has it

	text  []byte // what follows the header
	comma rune
	line  int // of the file, where text begins
	csv   *csv.Reader
	row   int // the line of the file where the last row begins
}

// A RowError says that a row cannot be read. It holds no value of a person.
type RowError struct {
	Line int // of the file, from 1
	Err  error
}

func (e *RowError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

func (e *RowError) Unwrap() error { return e.Err }

// NewTable reads the header. Commas, semicolons and tabs separate fields, whichever
// the header has most of, or what a first line such as "sep=;" says. A byte order
// mark is passed over. There are at most 1,024 columns, and the file has at most
// 64 MiB: it is one of the operator's own.
func NewTable(r io.Reader) (*Table, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("header: %w", err)
	case len(text) > maxBytes:
		return nil, fmt.Errorf("header: %w", errTooLarge)
	}
	t := &Table{text: bytes.TrimPrefix(text, []byte("\ufeff")), line: 1}
	t.separate()
	t.csv = t.reader()
	if t.Head, err = t.csv.Read(); err != nil {
		if err == io.EOF {
			err = errEmpty
		}
		return nil, fmt.Errorf("header: %w", err)
	}
	if len(t.Head) > maxColumns {
		return nil, fmt.Errorf("header: %d columns, want at most %d", len(t.Head), maxColumns)
	}
	t.goOn(int(t.csv.InputOffset()))
	return t, nil
}

// separate finds out what separates fields. It removes a line that says it.
func (t *Table) separate() {
	first, rest, _ := bytes.Cut(t.text, []byte("\n"))
	if by, ok := bytes.CutPrefix(bytes.TrimRight(first, "\r"), []byte("sep=")); ok && len(by) == 1 && strings.Contains(",;\t|", string(by)) {
		t.comma, t.text, t.line = rune(by[0]), rest, 2
		return
	}
	t.comma = ','
	most, quoted := 0, false
	var counts [256]int
	for _, c := range t.text {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '\n':
			return
		case c == ',' || c == ';' || c == '\t':
			counts[c]++
			if counts[c] > most {
				t.comma, most = rune(c), counts[c]
			}
		}
	}
}

// reader returns a reader of the text that is left.
func (t *Table) reader() *csv.Reader {
	c := csv.NewReader(bytes.NewReader(t.text))
	c.Comma, c.FieldsPerRecord = t.comma, len(t.Head)
	c.ReuseRecord = t.Head != nil
	return c
}

// goOn lets the next row begin at a place of the text, or behind it.
func (t *Table) goOn(at int) {
	t.line += bytes.Count(t.text[:at], []byte("\n"))
	t.text = t.text[at:]
	t.csv = t.reader()
}

// Read returns the next row, or io.EOF. It has as many fields as the header. The
// slice is valid until the next call, the strings for good. The error is a RowError
// for a row that cannot be read: the next call goes on in the line after that in
// which the row begins, so that a quote that is not closed costs one row.
func (t *Table) Read() ([]string, error) {
	before := int(t.csv.InputOffset())
	record, err := t.csv.Read()
	if err == nil {
		line, _ := t.csv.FieldPos(0)
		t.row = t.line + line - 1
		return record, nil
	}
	var bad *csv.ParseError
	if !errors.As(err, &bad) {
		return nil, err
	}
	t.row = t.line + bad.StartLine - 1
	err = bad.Err
	if err == csv.ErrFieldCount {
		err = fmt.Errorf("%d fields, want %d as in the header", len(record), len(t.Head))
	}
	if behind := int(t.csv.InputOffset()); bytes.Contains(bytes.TrimSpace(t.text[before:behind]), []byte("\n")) {
		t.goOn(t.lineAfter(before))
	}
	return nil, &RowError{t.row, err}
}

// lineAfter returns where the line ends in which the row begins that is read at a
// place.
func (t *Table) lineAfter(at int) int {
	for rest := t.text[at:]; ; rest = t.text[at:] {
		n := bytes.IndexByte(rest, '\n') + 1
		if n == 0 {
			return len(t.text)
		}
		at += n
		if len(bytes.TrimRight(rest[:n], "\r\n")) > 0 {
			return at
		}
	}
}

// Line is the line, from 1, on which the last row begins.
func (t *Table) Line() int { return t.row }

// Column returns the place of a column, whose name is in lower case: that of exactly
// this name, or else of one in other case or with spaces or hyphens; -1 if there is
// none. The error says that several are called so.
func (t *Table) Column(name string) (int, error) {
	if i := lastIndex(t.Head, name); i >= 0 {
		return i, nil
	}
	like := make([]string, len(t.Head))
	for i, h := range t.Head {
		like[i] = plainName(h)
	}
	i := slices.Index(like, name)
	if i >= 0 && lastIndex(like, name) != i {
		return -1, fmt.Errorf("several columns are called %s", name)
	}
	return i, nil
}

// lastIndex returns the last place of a name, -1 if there is none.
func lastIndex(names []string, name string) int {
	for i := len(names) - 1; i >= 0; i-- {
		if names[i] == name {
			return i
		}
	}
	return -1
}

// plainName is a name of a column in lower case, with underscores for spaces and
// hyphens.
func plainName(name string) string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(name)))
}

// Found says for an error which header the table has.
func (t *Table) Found() string {
	found := fmt.Sprintf("%q", t.Head)
	if len(found) > maxFound {
		found = strings.ToValidUTF8(found[:maxFound], "") + " …"
	}
	return "the header found is " + found
}
