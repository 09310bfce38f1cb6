// Package shared finds the reference recordings, the evidence and the labelled
// speech that lie beside the repository. They may not be part of it: a test runs
// on what the repository holds, and on these too where they are.
package shared

import (
	"os"
	"path/filepath"
	"testing"
)

// Find returns the path of shared/name, where name has slashes, in the nearest
// directory above the test that has it. ok is false if none has.
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
