package manifest

import (
	"encoding/csv"
	"fmt"
	"io"
)

const (
	// maxBytes is the size of the largest table. Chosen: a hundred bytes for each
	// of 600,000 recordings.
	maxBytes = 64 << 20

	// maxColumns is how many columns a table may have. Chosen: the widest table
	// that is read has a tenth of it.
	maxColumns = 1024
)

var errTooLarge = fmt.Errorf("the table has more than %d MiB", maxBytes>>20)

// A Table reads the rows of a CSV file under a header. It is not safe for
// concurrent use.
type Table struct {
	Head []string // the header
	csv  *csv.Reader
}

// NewTable reads the header. A byte order mark before it is passed over. Each row
// must have as many fields as the header, at most 1,024, and the file at most
// 64 MiB: it is one of the operator's own.
func NewTable(r io.Reader) (*Table, error) {
	c := csv.NewReader(&limited{r: r, left: maxBytes})
	head, err := c.Read()
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if len(head) > maxColumns {
		return nil, fmt.Errorf("header: %d columns, want at most %d", len(head), maxColumns)
	}
	const mark = "\ufeff"
	if len(head[0]) >= len(mark) && head[0][:len(mark)] == mark {
		head[0] = head[0][len(mark):]
	}
	c.ReuseRecord = true
	return &Table{head, c}, nil
}

// Read returns the next row, or io.EOF. The slice is valid until the next call,
// the strings for good.
func (t *Table) Read() ([]string, error) { return t.csv.Read() }

// Line is the line, from 1, on which the last row begins.
func (t *Table) Line() int {
	line, _ := t.csv.FieldPos(0)
	return line
}

// limited is a reader that fails where a file goes on beyond left bytes.
type limited struct {
	r    io.Reader
	left int64
}

func (l *limited) Read(b []byte) (int, error) {
	n, err := l.r.Read(b)
	if l.left -= int64(n); l.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
