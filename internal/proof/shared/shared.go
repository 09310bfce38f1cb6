// Package shared finds the reference recordings, the evidence and the labelled
// speech that lie beside the repository, for the tests that need them.
package shared

import (
	"os"
	"path/filepath"
	"testing"
)

// File returns the path of shared/name, where name has slashes, in the nearest
// directory above the test that has it. It skips the test where none has.
func File(t testing.TB, name string) string {
	t.Helper()
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for {
		file := filepath.Join(dir, "shared", filepath.FromSlash(name))
		if _, err := os.Stat(file); err == nil {
			return file
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Skipf("needs ../shared/%s beside the repository", name)
		}
		dir = parent
	}
}
