package dam

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		path string
		want error
	}{
		"no file":                     {filepath.Join(dir, "none"), os.ErrNotExist},
		"empty":                       {file("empty", nil), ErrCheckpoint},
		"a text":                      {file("text", []byte("{}")), ErrCheckpoint},
		"a checkpoint of other sizes": {filepath.Join("testdata", "small.ckpt"), ErrWeights},
		"a model file of other sizes": {file("small", converted(t, randomWeights(small, 1))), ErrWeights},
	} {
		if _, err := Open(c.path, nil); !errors.Is(err, c.want) || !strings.Contains(err.Error(), filepath.Base(c.path)) {
			t.Errorf("%s: got %v, want %v and the file's name", name, err, c.want)
		}
	}
	small := filepath.Join("testdata", "small.ckpt")
	if _, err := Open(small, &ScorerOptions{SHA256: strings.Repeat("0", 64)}); !errors.Is(err, ErrChecksum) {
		t.Errorf("another checksum: got %v, want ErrChecksum", err)
	}
	sum, err := Checksum(small)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(small, &ScorerOptions{SHA256: strings.ToUpper(sum)}); !errors.Is(err, ErrWeights) {
		t.Errorf("its own checksum: got %v, want it to be read", err)
	}
}

func TestIs(t *testing.T) {
	for head, want := range map[string]bool{"PK\x03\x04 and so on": true, fileMagic: true, `{"format":"voicescreen-model/1"`: false, "": false} {
		if Is([]byte(head)) != want {
			t.Errorf("%q: got %v, want %v", head, !want, want)
		}
	}
}
