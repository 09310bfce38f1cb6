package main

import (
	"bytes"
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// csvHelp describes tables in the help of the commands that write them.
const csvHelp = `The CSV is that of RFC 4180: in UTF-8, with commas, a header, and CR LF at the end of
a row. A value that is undefined or not given is empty. Text gets an apostrophe
before a =, +, -, @ or control character with which a spreadsheet would begin a
formula or a cell: a user "+41 7" is "'+41 7". Numbers have none.`

// csvRow is a row of a CSV file that is being put together.
type csvRow []string

// text adds text, which a spreadsheet never takes for a formula.
func (r *csvRow) text(s string) { *r = append(*r, noFormula(s)) }

// number adds a number, empty if it is undefined.
func (r *csvRow) number(x float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		*r = append(*r, "")
		return
	}
	*r = append(*r, strconv.FormatFloat(x, 'g', -1, 64))
}

// count adds a whole number.
func (r *csvRow) count(n int) { *r = append(*r, strconv.Itoa(n)) }

// given adds a whole number, empty if it is 0.
func (r *csvRow) given(n int) {
	if n == 0 {
		*r = append(*r, "")
		return
	}
	r.count(n)
}

// truth adds true or false.
func (r *csvRow) truth(b bool) { *r = append(*r, strconv.FormatBool(b)) }

// time adds a time in UTC as in RFC 3339, empty if it is zero.
func (r *csvRow) time(t time.Time) {
	if t.IsZero() {
		*r = append(*r, "")
		return
	}
	*r = append(*r, t.UTC().Format(time.RFC3339Nano))
}

// empty adds n empty fields.
func (r *csvRow) empty(n int) { *r = append(*r, make([]string, n)...) }

// write writes the row. The line ends are CR LF here and not by csv.Writer.UseCRLF,
// which changes those within fields as well.
func (r csvRow) write(w io.Writer) error {
	var b bytes.Buffer
	c := csv.NewWriter(&b)
	if err := c.Write(r); err != nil {
		return err
	}
	c.Flush() // a buffer takes everything
	b.Truncate(b.Len() - 1)
	b.WriteString("\r\n")
	_, err := w.Write(b.Bytes())
	return err
}

// noFormula puts an apostrophe before what a spreadsheet would calculate: a formula
// at the beginning of the text, and behind a character that ends a cell where the
// spreadsheet expects other separators than commas. Source: OWASP, CSV Injection.
func noFormula(s string) string {
	const (
		formula = "=+-@＝＋－＠"
		control = "\t\r\n"
	)
	var b strings.Builder
	begins := true // whether a program may begin a cell here
	for i, c := range strings.ToValidUTF8(s, "\uFFFD") {
		if begins && strings.ContainsRune(formula, c) || i == 0 && strings.ContainsRune(control, c) {
			b.WriteByte('\'')
		}
		b.WriteRune(c)
		begins = c == ';' || strings.ContainsRune(control, c) || begins && (c == ' ' || c == '"')
	}
	return b.String()
}
