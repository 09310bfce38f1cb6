package command

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestOutputKeepsTheMode replaces files: the new file has the mode of the former one, also
// before it is complete.
func TestOutputKeepsTheMode(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("Windows has no such modes")
	}
	for _, mode := range []os.FileMode{0o600, 0o640, 0o666} {
		path := filepath.Join(t.TempDir(), "scores.csv")
		if err := os.WriteFile(path, []byte("former"), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		o, err := NewOutput(path)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := o.tmp.Stat(); err != nil || info.Mode() != mode {
			t.Errorf("mode %v: got %v and error %v before it is complete", mode, info.Mode(), err)
		}
		err = o.Finish(func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err })
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("mode %v: got %v and error %v, want it kept", mode, info.Mode(), err)
		}
		if text, err := os.ReadFile(path); string(text) != "new" || err != nil {
			t.Errorf("mode %v: got %q and error %v, want what was written", mode, text, err)
		}
	}
}

// TestOutputHasTheModeOfTheUmask creates a file: it has the mode of any new file.
func TestOutputHasTheModeOfTheUmask(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "any"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "scores.csv")
	o, err := NewOutput(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Finish(func(io.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if got, err := os.Stat(path); err != nil || got.Mode() != want.Mode() {
		t.Errorf("got %v and error %v, want %v", got.Mode(), err, want.Mode())
	}
}

// A file with data of people is for its owner only, from the beginning, and replaces
// nothing.
func TestPrivateOutput(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "patients.csv")
	o, err := NewPrivateOutput(path)
	if err != nil {
		t.Fatal(err)
	}
	mode := func(f interface{ Stat() (os.FileInfo, error) }) os.FileMode {
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	if got := mode(o.tmp); os.PathSeparator == '/' && got != 0o600 {
		t.Errorf("got %v while it is written, want 0600", got)
	}
	if err := o.Finish(func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := mode(f); os.PathSeparator == '/' && got != 0o600 {
		t.Errorf("got %v, want 0600", got)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "none"), link); err != nil {
		t.Fatal(err)
	}
	for _, there := range []string{path, dir, link} {
		if _, err := NewPrivateOutput(there); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: got error %v, want that it exists", there, err)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
		t.Errorf("got %v and error %v, want no file left behind", list, err)
	}
}
