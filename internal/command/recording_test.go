package command

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
)

func TestNotWhole(t *testing.T) {
	if w := NotWhole(false, false, 600); len(w) != 0 {
		t.Errorf("got %q for a whole file, want none", w)
	}
	w := NotWhole(true, true, 600)
	if len(w) != 2 || !strings.Contains(w[0], "cut short") || !strings.Contains(w[1], "first 10.0 minutes") {
		t.Errorf("got %q, want one that it was cut short and one about the first 10.0 minutes", w)
	}
}

// TestStandardInput opens "-", which is a file name where standard input is not read.
func TestStandardInput(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := openFile("-", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v, want that there is no such file", err)
	}
	f, err := openFile("-", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(f); string(got) != "x" || err != nil {
		t.Errorf("got %q and error %v, want standard input", got, err)
	}
}
