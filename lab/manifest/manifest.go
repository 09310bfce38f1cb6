// Package manifest reads tables of labelled recordings, and says which of their
// rows resemble each other: by source, system and speaker.
package manifest

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/voicescreen/voicescreen/screen"
)

// ErrInvalid is wrapped by every error about the contents of a manifest.
var ErrInvalid = errors.New("manifest: invalid manifest")

// A Row is one recording of a manifest.
type Row struct {
	Path      string // as the manifest has it
	Label     string // as the manifest has it
	Positive  bool
	Use       string          // column use: what the row may be used for; "" if there is no such column
	Source    string          // column source_repo, the page it came from
	System    string          // column system, what synthesised it
	Speaker   string          // column speaker
	Licence   string          // column licence
	Kind      string          // column kind, of the synthesis
	Language  string          // column language
	Bandwidth float64         // column bandwidth_hz, the highest frequency of the recording in Hz; 0 if it is not a number above 0
	Duration  float64         // column duration_s, seconds; 0 likewise
	Metadata  screen.Metadata // columns gender or sex, age, race, ethnicity: what is said about the person
	Total     int             // column phq_9 or gad_7, the questionnaire of the task: its sum
	HasTotal  bool            // whether Total is known
}

// labels are the spellings of the negative and the positive class.
var labels = map[screen.Category][2][]string{
	screen.Depression: {{"negative", "0", "false"}, {"positive", "1", "true"}}, // PHQ-9 ≥ 10
	screen.Anxiety:    {{"negative", "0", "false"}, {"positive", "1", "true"}}, // GAD-7 ≥ 10
	screen.Deepfake:   {{"bonafide", "0"}, {"spoof", "1"}},
}

// totals are the columns with the sum of the questionnaire of a task, and the
// largest sum.
var totals = map[screen.Category]struct {
	column string
	most   int
}{screen.Depression: {"phq_9", 27}, screen.Anxiety: {"gad_7", 21}}

// MaxTotal is the largest sum of the questionnaire of a task, 0 where there is
// none.
func MaxTotal(task screen.Category) int { return totals[task].most }

// columns are the names of the columns that are read, but for the total.
var columns = []string{
	"path", "label", "use", "source_repo", "system", "speaker", "licence", "kind", "language",
	"gender", "sex", "age", "race", "ethnicity", "bandwidth_hz", "duration_s",
}

// maxSkipped is how many rows may be skipped at most, whatever the table. Chosen: a
// table with more needs another look.
const maxSkipped = 1000

// maxSkippedShare is the inverse of the share of rows that may be skipped. Chosen:
// with more than a tenth the fault is one of the table, such as another task's.
const maxSkippedShare = 10

// Read reads a CSV file with a header line. See [NewTable] for its separators and its
// size. The columns path and label are needed; upper case, spaces and hyphens in the
// names of columns do not count. Label is bonafide or 0, spoof or 1 for the deepfake
// task, and negative, 0 or false, positive, 1 or true for the others. For these the
// column phq_9 or gad_7, a sum from which 10 or more is positive, may stand in
// the place of label; where both are, they must agree. The other columns of
// Row are read if they are there and not empty, and any others ignored.
//
// A row that cannot be read is left out, and returned among skipped, in the order of
// the file: one, or up to a tenth of the rows and a thousand. An error about the
// contents matches ErrInvalid and names the line. It holds no value of a person, but
// the header if a column is missing there.
func Read(r io.Reader, task screen.Category) (rows []Row, skipped []*RowError, err error) {
	if _, ok := labels[task]; !ok {
		return nil, nil, fmt.Errorf("%w: there is no manifest for %v", ErrInvalid, task)
	}
	t, err := NewTable(r)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	names, err := t.names(task)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	for {
		row, err := t.next(task, names)
		var bad *RowError
		switch {
		case err == io.EOF:
			if err := tooMany(len(rows), skipped); err != nil {
				return nil, nil, err
			}
			return rows, skipped, nil
		case errors.As(err, &bad):
			if skipped = append(skipped, bad); len(skipped) > maxSkipped {
				return nil, nil, fmt.Errorf("%w: more than %d rows cannot be read, the first: %w", ErrInvalid, maxSkipped, skipped[0])
			}
		case err != nil:
			return nil, nil, fmt.Errorf("%w: %w", ErrInvalid, err)
		default:
			rows = append(rows, row)
		}
	}
}

// tooMany returns an error where there are no rows, or too many were skipped.
func tooMany(rows int, skipped []*RowError) error {
	switch n := len(skipped); {
	case rows == 0 && n == 0:
		return fmt.Errorf("%w: no rows", ErrInvalid)
	case rows == 0, n > 1 && n*maxSkippedShare > rows+n:
		return fmt.Errorf("%w: %d of %d rows cannot be read, the first: %w", ErrInvalid, n, rows+n, skipped[0])
	}
	return nil
}

// names returns for each column of the table which one of a manifest it is, "" for
// one that is not read.
func (t *Table) names(task screen.Category) ([]string, error) {
	names, total := make([]string, len(t.Head)), totals[task].column
	found := map[string]bool{}
	for _, name := range append([]string{total}, columns...) {
		if name == "" { // the task has no questionnaire
			continue
		}
		i, err := t.Column(name)
		if err != nil {
			return nil, err
		}
		if i >= 0 {
			names[i], found[name] = name, true
		}
	}
	switch {
	case !found["path"]:
		return nil, fmt.Errorf("no column path; %s", t.Found())
	case !found["label"] && total == "":
		return nil, fmt.Errorf("no column label; %s", t.Found())
	case !found["label"] && !found[total]:
		return nil, fmt.Errorf("no column label or %s; %s", total, t.Found())
	}
	return names, nil
}

// next reads a row. The error is io.EOF, a RowError, or one about the file.
func (t *Table) next(task screen.Category, names []string) (Row, error) {
	record, err := t.Read()
	if err != nil {
		return Row{}, err
	}
	row, err := newRow(task, names, record)
	if err != nil {
		return row, &RowError{t.Line(), err}
	}
	return row, nil
}

// newRow reads one line.
func newRow(task screen.Category, names, record []string) (Row, error) {
	var row Row
	for i, name := range names {
		if dst := row.column(name); dst != nil {
			*dst = record[i]
		} else if err := row.set(task, name, record[i]); err != nil {
			return row, err
		}
	}
	if row.Path == "" {
		return row, errors.New("path is empty")
	}
	if row.Label == "" && row.HasTotal {
		row.Label = labels[task][0][0]
		if row.Total >= screen.PositiveTotal {
			row.Label = labels[task][1][0]
		}
	}
	var err error
	if row.Positive, err = ParseLabel(task, row.Label); err != nil {
		return row, err
	}
	if row.HasTotal && row.Positive != (row.Total >= screen.PositiveTotal) {
		return row, fmt.Errorf("label and %s disagree", totals[task].column)
	}
	return row, nil
}

// ParseLabel says whether a label of a manifest is that of the positive class. Upper
// case and spaces round it do not count: spreadsheets write TRUE.
func ParseLabel(task screen.Category, label string) (positive bool, err error) {
	classes := labels[task]
	is := func(name string) bool { return strings.EqualFold(strings.TrimSpace(label), name) }
	positive = slices.ContainsFunc(classes[1], is)
	if !positive && !slices.ContainsFunc(classes[0], is) {
		return false, fmt.Errorf("label %.40q, want one of %s", label, strings.Join(slices.Concat(classes[0], classes[1]), ", "))
	}
	return positive, nil
}

// set reads a column that is not a plain string.
func (r *Row) set(task screen.Category, name, value string) (err error) {
	if name == "" || value == "" {
		return nil
	}
	switch name {
	case "gender", "sex":
		r.Metadata.Gender, err = screen.ParseGender(value)
	case "race":
		r.Metadata.Race, err = screen.ParseRace(value)
	case "ethnicity":
		r.Metadata.Ethnicity, err = screen.ParseEthnicity(value)
	case "age":
		r.Metadata.Age, err = count(value, 1, 150)
	case "bandwidth_hz":
		r.Bandwidth = amount(value)
	case "duration_s":
		r.Duration = amount(value)
	case totals[task].column:
		r.Total, err = count(value, 0, totals[task].most)
		r.HasTotal = true
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// count reads a whole number from low to high.
func count(value string, low, high int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("want a whole number from %d to %d", low, high)
	}
	return n, nil
}

// amount reads a finite number above 0, and any other value as 0: figures are grouped
// by it, and no row is left out for it.
func amount(value string) float64 {
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || !(x > 0) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

// column is the field of the row that a column fills, nil if none.
func (r *Row) column(name string) *string {
	switch name {
	case "path":
		return &r.Path
	case "label":
		return &r.Label
	case "use":
		return &r.Use
	case "source_repo":
		return &r.Source
	case "system":
		return &r.System
	case "speaker":
		return &r.Speaker
	case "licence":
		return &r.Licence
	case "kind":
		return &r.Kind
	case "language":
		return &r.Language
	}
	return nil
}
