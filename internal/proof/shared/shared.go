// Package shared finds reference recordings, evidence and labelled speech in a directory
// beside the repository, which may not contain them. Tests run on the files of the
// repository, and on these too if they are present.
package shared

import (
	"os"
	"path/filepath"
	"testing"
)

// Find returns the path of shared/name, where name is separated by slashes, in the nearest
// directory above the working directory that contains it. Ok is false if none does.
func Find(t testing.TB, name string) (path string, ok bool) {
	t.Helper()
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for {
		file := filepath.Join(dir, "shared", filepath.FromSlash(name))
		if _, err := os.Stat(file); err == nil {
			return file, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Logf("without ../shared/%s beside the repository", name)
			return "", false
		}
		dir = parent
	}
}
