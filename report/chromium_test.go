package report_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/chromium"
	"github.com/voicescreen/voicescreen/report"
)

// TestPageInTheBrowser shows a report at the size of a phone and of a desk, and prints it.
func TestPageInTheBrowser(t *testing.T) {
	r := interview(t)
	file := filepath.Join(t.TempDir(), "report.html")
	page := write(t, &report.Page{Title: "interview_en.wav", Analysis: r.a, Signal: report.NewSignal(r.c)})
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, size := range chromium.Sizes() {
		w := chromium.Open(t, size)
		w.Go("file://" + file)
		w.Check(name)
		if wide := w.Overflow(); wide > 0 {
			t.Errorf("%s: the page is %d pixels wider than the window%s", name, wide, w.Shot(name))
		}
		if n := w.Sheets(); n < 1 || n > 6 {
			t.Errorf("%s: the page takes %d sheets in print, want 6 at most", name, n)
		}
	}
}
