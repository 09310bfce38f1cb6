package chromium

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// failures are the errors of a test that ought to fail.
type failures struct {
	testing.TB

	mu     sync.Mutex // protects errors: messages of a page come by themselves
	errors []string
}

func (f *failures) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}

// TestFaultsOfAPageAreFound shows a page that has the faults that tests look for.
func TestFaultsOfAPageAreFound(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.html")
	const page = `<!DOCTYPE html><html lang="en"><title>Page</title><style>@media (prefers-color-scheme: dark) { p { color: #777; background: #888 } }</style><main><h1>Page</h1><img src="data:,"><p style="width: 2000px">wide</p></main>
<div style="break-before: page"></div><script>console.error("planted")</script></html>`
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &failures{TB: t}
	w := Open(f, Phone)
	w.Go("file://" + file)
	w.Check("page")
	if n := w.Overflow(); n <= 0 {
		t.Errorf("got an overflow of %d pixels, want some", n)
	}
	if n := w.Sheets(); n < 2 {
		t.Errorf("got %d sheets, want 2 or more", n)
	}
	w.Close()
	wants := []string{"planted"}
	if !cost.Race {
		wants = append(wants, "page in dark: image-alt", "page in dark: color-contrast", "page in light: image-alt")
	}
	got := strings.Join(f.errors, "\n")
	for _, want := range wants {
		if !strings.Contains(got, want) {
			t.Errorf("got the errors %q, want %q among them", got, want)
		}
	}
	if strings.Contains(got, "page in light: color-contrast") {
		t.Errorf("got the errors %q, want the contrast to be wrong in the dark only", got)
	}
}
