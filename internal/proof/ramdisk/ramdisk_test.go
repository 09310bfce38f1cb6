package ramdisk_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/ramdisk"
)

func TestTempIsTheDirectory(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "before"))
	before := os.TempDir()
	if err := ramdisk.Temp(); err != nil {
		t.Fatal(err)
	}
	want := ramdisk.Dir()
	if want == "" {
		want = before
	}
	if got := os.TempDir(); got != want {
		t.Errorf("got %s for temporary files, want %s", got, want)
	}
	if dir := ramdisk.Dir(); dir != "" {
		f, err := os.CreateTemp(dir, "ramdisk")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("content"); err != nil {
			t.Error(err)
		}
		if err := f.Sync(); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if err := os.Remove(f.Name()); err != nil {
			t.Error(err)
		}
	}
}
