package records

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

// readAll reads all records.
func readAll(r interface{ Read() ([]string, error) }) (list [][]string, err error) {
	for {
		record, err := r.Read()
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		list = append(list, slices.Clone(record))
	}
}

// FuzzRead says that records are those of encoding/csv, unless one is too large.
func FuzzRead(f *testing.F) {
	f.Add("a,b\n\"c\n,\"\"\",d\r\n\n,\n", false)
	f.Add("a;b\nc\"d;e\n\"f\"g,h\n", true)
	f.Add(strings.Repeat("x", 5000)+",y\n"+strings.Repeat(`"`+strings.Repeat("z", 3000)+"\n", 4), true)
	f.Fuzz(func(t *testing.T, text string, lazy bool) {
		r, oracle := NewReader(strings.NewReader(text), ','), csv.NewReader(strings.NewReader(text))
		if lazy {
			r = NewLazyReader(strings.NewReader(text), ',')
			oracle.LazyQuotes, oracle.FieldsPerRecord = true, -1
		}
		got, err := readAll(r)
		if errors.Is(err, ErrTooLarge) {
			return
		}
		want, wantErr := readAll(oracle)
		if (err == nil) != (wantErr == nil) || !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("got %q, %v, want %q, %v", got, err, want, wantErr)
		}
	})
}

func TestLine(t *testing.T) {
	r := NewReader(strings.NewReader("a,b\n\"c\nc\",d\ne,f\n"), ',')
	for _, want := range []int{1, 2, 4} {
		if _, err := r.Read(); err != nil || r.Line() != want {
			t.Errorf("got line %d, %v, want %d", r.Line(), err, want)
		}
	}
}

func TestRecordsThatAreTooLarge(t *testing.T) {
	ok := strings.Repeat(",", maxFields-1) + "\n"
	for name, text := range map[string]string{
		"fields":            ok + ok + "," + ok,
		"fields in lines":   ok + "\"" + strings.Repeat("\n,", maxFields) + "\"\n",
		"bytes":             ok + strings.Repeat("a", maxRecord+1) + "\n",
		"bytes in lines":    ok + "\"" + strings.Repeat("aaa\n", maxRecord/4) + "\"\n",
		"bytes without end": ok + strings.Repeat("a", maxRecord+1),
	} {
		list, err := readAll(NewLazyReader(strings.NewReader(text), ','))
		if !errors.Is(err, ErrTooLarge) || len(list) == 0 {
			t.Errorf("%s: got %d records, %v, want ErrTooLarge behind those that are not", name, len(list), err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("%s: got %v, want the line", name, err)
		}
	}
}

// TestReadCostsInProportion reads files of a megabyte of as many records,
// fields and lines as fit.
func TestReadCostsInProportion(t *testing.T) {
	for name, unit := range map[string]string{
		"empty lines":  "\n",
		"short lines":  "a\n",
		"two fields":   ",\n",
		"one line":     "a",
		"fields":       ",",
		"wide records": strings.Repeat(",", maxFields-1) + "\n",
		"long records": strings.Repeat("a", maxRecord-1) + "\n",
		"quotes":       `""`,
		"quoted lines": "\"\n\",",
		"open quotes":  "\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Repeat(unit, cost.Size/len(unit))
			cost.Check(t, len(text), func() {
				for r := NewLazyReader(strings.NewReader(text), ','); ; {
					if _, err := r.Read(); err != nil {
						break
					}
				}
			})
		})
	}
}
