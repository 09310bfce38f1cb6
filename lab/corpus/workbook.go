package corpus

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// What a workbook may hold. Chosen: the one table of subjects that is read has
// 52 rows, some 50 kB and a few hundred texts; it is unpacked as it is read, so
// that of a file of which little is made much no more than the texts is kept.
const (
	maxWorkbook = 256 << 10 // bytes
	maxPart     = 4 << 20   // bytes of a file inside, unpacked
	maxColumns  = 256       // of a row; those of before Excel 2007
	maxShared   = 4096      // texts that cells refer to
	maxTexts    = 256 << 10 // bytes of all texts
)

// readWorkbook reads the first sheet of an Excel workbook (ECMA-376, parts
// 18.3 and 18.4), of which the first row is the header: text and numbers, no
// formulas, dates or styles.
func readWorkbook(root fs.FS, name string) (*table, error) {
	b, err := readFile(root, name, maxWorkbook)
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrCorpus, name, err)
	}
	s := &sheet{left: maxTexts}
	if err := s.readShared(z); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s: shared texts: %w", ErrCorpus, name, err)
	}
	if s.cells, err = openPart(z, "xl/worksheets/sheet1.xml"); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrCorpus, name, err)
	}
	return newTable(name, maxSubjects, s.next)
}

// openPart begins to unpack a file inside. Nothing need be closed: the workbook
// is in memory.
func openPart(z *zip.Reader, name string) (*markup, error) {
	f, err := z.Open(name)
	if err != nil {
		return nil, err
	}
	return &markup{r: bufio.NewReader(&lines{r: &part{f, name, maxPart}})}, nil
}

// part is a file inside a workbook of which so many bytes are unpacked.
type part struct {
	r    io.Reader
	name string
	left int
}

func (p *part) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if p.left -= n; p.left < 0 {
		return 0, fmt.Errorf("%s has more than %d bytes", p.name, maxPart)
	}
	return n, err
}

// sheet reads the rows of a sheet.
type sheet struct {
	cells  *markup
	shared []string // the texts that cells refer to by number
	left   int      // how many bytes of texts there may be still
	row    []string
}

// keep makes a string of a text.
func (s *sheet) keep(text []byte) (string, error) {
	if s.left -= len(text); s.left < 0 {
		return "", fmt.Errorf("there are more than %d bytes of texts", maxTexts)
	}
	return string(text), nil
}

// readShared reads the texts that cells refer to. One is in si/t, or in pieces
// in si/r/t; how it is pronounced, in si/rPh/t, does not count.
func (s *sheet) readShared(z *zip.Reader) error {
	m, err := openPart(z, "xl/sharedStrings.xml")
	if err != nil {
		return err
	}
	var text []byte
	for {
		e, err := m.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case e == begin && m.at("*/si"):
			text = text[:0]
		case e == end && (m.at("*/si/t") || m.at("*/si/r/t")):
			if text = append(text, m.text...); len(text) > maxText {
				return errText
			}
		case e == end && m.at("*/si"):
			if len(s.shared) == maxShared {
				return fmt.Errorf("there are more than %d", maxShared)
			}
			t, err := s.keep(text)
			if err != nil {
				return err
			}
			s.shared = append(s.shared, t)
		}
	}
}

// next returns the next row.
func (s *sheet) next() ([]string, error) {
	s.row = s.row[:0]
	var c cellAt
	for {
		e, err := s.cells.next()
		if err != nil {
			return nil, err
		}
		switch m := s.cells; {
		case e == end && m.at("*/sheetData/row"):
			return s.row, nil
		case e == begin && m.at("*/sheetData/row/c"):
			if c, err = m.cell(); err != nil {
				return nil, err
			}
			for len(s.row) <= c.column {
				s.row = append(s.row, "")
			}
		case e == end && (m.at("*/sheetData/row/c/v") && c.kind != "inlineStr" || m.at("*/sheetData/row/c/is/t") && c.kind == "inlineStr"):
			if s.row[c.column], err = s.value(c.kind, m.text); err != nil {
				return nil, err
			}
		}
	}
}

// value is what a cell shows.
func (s *sheet) value(kind string, text []byte) (string, error) {
	if kind != "s" {
		return s.keep(text)
	}
	i, err := strconv.Atoi(string(text))
	if err != nil || i < 0 || i >= len(s.shared) {
		return "", fmt.Errorf("a cell refers to text %.40q, which is not there", text)
	}
	return s.shared[i], nil
}

// cellAt is where a cell is and of which type.
type cellAt struct {
	column int
	kind   string
}

// cell reads the attributes of a cell.
func (m *markup) cell() (cellAt, error) {
	r, err := m.attribute("r")
	if err != nil {
		return cellAt{}, err
	}
	place := string(r)
	t, err := m.attribute("t")
	if err != nil {
		return cellAt{}, err
	}
	c := cellAt{columnOf(place), string(t)}
	if c.column < 0 || c.column >= maxColumns {
		return c, fmt.Errorf("a cell at %.40q", place)
	}
	return c, nil
}

// columnOf is the number, from 0, of the column in a place such as "AB12"; −1
// if it has none.
func columnOf(place string) int {
	n := 0
	for _, r := range strings.TrimRight(place, "0123456789") {
		if r < 'A' || r > 'Z' || n > maxColumns {
			break
		}
		n = 26*n + int(r-'A') + 1
	}
	return n - 1
}
