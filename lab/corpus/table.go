package corpus

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/voicescreen/voicescreen/dsp"
)

const (
	// maxSubjects is how many rows a table of subjects may have. Chosen: twice
	// the largest part of a corpus, which has 163.
	maxSubjects = 400

	// maxTurns is how many rows a transcript may have. Chosen: an hour of turns
	// of a second.
	maxTurns = 3600

	// maxTable is how many bytes a table may have. Chosen: 4 kB a turn.
	maxTable = 16 << 20
)

// table is a file of rows under a header, which are read one after the other.
type table struct {
	file string
	most int                      // rows
	head []string                 // lower case, without spaces round them
	next func() ([]string, error) // the row, which is valid until the next call, or io.EOF
}

// readTable reads the header of a file of that separator and at most that many
// rows. Rows may be shorter or longer than the header: the corpora's are.
func readTable(root fs.FS, name string, comma rune, most int) (*table, error) {
	b, err := readFile(root, name, maxTable)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(b, []byte("\ufeff"))))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = comma, -1, true, true
	return newTable(name, most, r.Read)
}

// readFile reads a file of at most that many bytes.
func readFile(root fs.FS, name string, most int64) ([]byte, error) {
	info, err := fs.Stat(root, name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorpus, err)
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%w: %s has more than %d bytes", ErrCorpus, name, most)
	}
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorpus, err)
	}
	return b, nil
}

// newTable reads the header.
func newTable(file string, most int, next func() ([]string, error)) (*table, error) {
	head, err := next()
	switch {
	case err == io.EOF:
		return nil, fmt.Errorf("%w: %s is empty", ErrCorpus, file)
	case err != nil:
		return nil, fmt.Errorf("%w: %s: %w", ErrCorpus, file, err)
	}
	t := &table{file: file, most: most, next: next}
	for _, h := range head {
		t.head = append(t.head, strings.ToLower(strings.TrimSpace(h)))
	}
	return t, nil
}

// each calls f with every row. A row is valid until f returns.
func (t *table) each(f func(row []string)) error {
	for n := 0; ; n++ {
		row, err := t.next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("%w: %s: %w", ErrCorpus, t.file, err)
		case n == t.most:
			return fmt.Errorf("%w: %s has more than %d rows", ErrCorpus, t.file, t.most)
		}
		f(row)
	}
}

// column is the place of the first column of one of the names, which are lower
// case; -1 if there is none.
func (t *table) column(names ...string) int {
	for _, n := range names {
		if i := slices.Index(t.head, n); i >= 0 {
			return i
		}
	}
	return -1
}

// need is column, with an error.
func (t *table) need(names ...string) (int, error) {
	i := t.column(names...)
	if i < 0 {
		return -1, fmt.Errorf("%w: %s has no column %s", ErrCorpus, t.file, names[0])
	}
	return i, nil
}

// cell is a field of a row, "" where there is none.
func cell(row []string, i int) string {
	if i < 0 || i >= len(row) {
		return ""
	}
	return strings.TrimSpace(row[i])
}

// whole reads a number that some program may have written as 10.0.
func whole(s string) (int, bool) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) > 1e9 {
		return 0, false
	}
	return int(v), true
}

// seconds reads a time.
func seconds(s string) (float64, bool) {
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && v >= 0 && v < 1e6
}

// merged sorts segments and joins those that touch or overlap, in their place.
func merged(s []dsp.Segment) []dsp.Segment {
	slices.SortFunc(s, func(a, b dsp.Segment) int { return cmp.Compare(a.Start, b.Start) })
	out := s[:0]
	for _, x := range s {
		if n := len(out); n > 0 && x.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, x.End)
			continue
		}
		out = append(out, x)
	}
	return out
}

// without cuts a stretch of time out of segments.
func without(s []dsp.Segment, cut dsp.Segment) []dsp.Segment {
	var out []dsp.Segment
	for _, x := range s {
		if before := (dsp.Segment{Start: x.Start, End: min(x.End, cut.Start)}); before.Duration() > 0 {
			out = append(out, before)
		}
		if after := (dsp.Segment{Start: max(x.Start, cut.End), End: x.End}); after.Duration() > 0 {
			out = append(out, after)
		}
	}
	return out
}
