package fit

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/voicescreen/voicescreen/models"
)

// ErrManifest is what an error about the contents of a manifest wraps.
var ErrManifest = errors.New("fit: manifest does not fit")

// A Row is one recording of a manifest.
type Row struct {
	Path     string // as the manifest has it
	Label    string // as the manifest has it
	Positive bool
	Use      string // column use: what the row may be used for; "" if there is no such column
	Source   string // column source_repo, the page it came from
	System   string // column system, what synthesised it
	Speaker  string // column speaker
	Licence  string // column licence
}

// labels are the spellings of the negative and the positive class.
var labels = map[models.Category][2][]string{
	models.Depression: {{"negative", "0", "false"}, {"positive", "1", "true"}}, // PHQ-9 ≥ 10
	models.Anxiety:    {{"negative", "0", "false"}, {"positive", "1", "true"}}, // GAD-7 ≥ 10
	models.Deepfake:   {{"bonafide", "0"}, {"spoof", "1"}},
}

// ReadManifest reads a CSV file with a header line. The columns path and label
// are needed; label is bonafide or 0, spoof or 1 for the deepfake task, and
// negative, 0 or false, positive, 1 or true for the others. use, source_repo,
// system, speaker and licence are read if they are there, and any others
// ignored. A byte order mark before the header is passed over. An error about
// the contents matches ErrManifest and names the line.
func ReadManifest(r io.Reader, task models.Category) ([]Row, error) {
	classes, ok := labels[task]
	if !ok {
		return nil, fmt.Errorf("%w: there is no manifest for %v", ErrManifest, task)
	}
	c := csv.NewReader(r)
	head, err := c.Read()
	if err != nil {
		return nil, fmt.Errorf("%w: header: %w", ErrManifest, err)
	}
	head = slices.Clone(head)
	head[0] = strings.TrimPrefix(head[0], "\ufeff")
	for _, need := range []string{"path", "label"} {
		if !slices.Contains(head, need) {
			return nil, fmt.Errorf("%w: no column %s", ErrManifest, need)
		}
	}
	var rows []Row
	for {
		record, err := c.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrManifest, err)
		}
		var row Row
		for i, name := range head {
			if dst := row.column(name); dst != nil {
				*dst = record[i]
			}
		}
		line, _ := c.FieldPos(0)
		if row.Path == "" {
			return nil, fmt.Errorf("%w: line %d: path is empty", ErrManifest, line)
		}
		row.Positive = slices.Contains(classes[1], row.Label)
		if !row.Positive && !slices.Contains(classes[0], row.Label) {
			return nil, fmt.Errorf("%w: line %d: label %q, want one of %s", ErrManifest, line, row.Label,
				strings.Join(slices.Concat(classes[0], classes[1]), ", "))
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%w: no rows", ErrManifest)
	}
	return rows, nil
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
	}
	return nil
}

// cluster is the source and the system of a row: recordings of one cluster
// resemble each other. A row of which neither is known is one of its own.
func (r *Row) cluster() string {
	if !known(r.Source) && !known(r.System) {
		return "\x00" + r.Path
	}
	return r.Source + "\x00" + r.System + "\x00" + r.Label
}
