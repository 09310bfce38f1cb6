package corpus

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"

	"github.com/xuri/excelize/v2"
)

// What a workbook may hold. Chosen: the one table of subjects that is read has
// 52 rows and some 50 kB.
const (
	maxWorkbook = 256 << 10 // bytes
	maxUnpacked = 16 << 20  // bytes of all files inside
)

// readWorkbook reads the first sheet of an Excel workbook, of which the first row
// is the header. Numbers are as they are stored, without their format.
func readWorkbook(root fs.FS, name string) (*table, error) {
	b, err := readFile(root, name, maxWorkbook)
	if err != nil {
		return nil, err
	}
	f, err := excelize.OpenReader(bytes.NewReader(b), excelize.Options{
		RawCellValue: true, UnzipSizeLimit: maxUnpacked, UnzipXMLSizeLimit: maxUnpacked,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrCorpus, name, err)
	}
	defer f.Close() // it is in memory: there is nothing to fail
	rows, err := f.GetRows(f.GetSheetName(0))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrCorpus, name, err)
	}
	next := func() ([]string, error) {
		if len(rows) == 0 {
			return nil, io.EOF
		}
		row := rows[0]
		rows = rows[1:]
		return row, nil
	}
	return newTable(name, maxSubjects, next)
}
