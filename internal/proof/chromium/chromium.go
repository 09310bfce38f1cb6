// Package chromium shows pages to tests in Debian's Chromium, without a window.
//
// A test that needs Chromium says so where it is missing. Pictures of the pages are
// stored in the directory of the environment variable SCREENSHOTS, if it is set.
package chromium

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

// Sizes of a window, width and height in CSS pixels.
var (
	Phone   = [2]int64{390, 844}
	Desktop = [2]int64{1280, 800}
)

// Sizes returns the sizes at which tests look at each page, by name. The race detector sees
// Go only, for which one of them is enough.
func Sizes() map[string][2]int64 {
	return cost.Sized(map[string][2]int64{"phone": Phone, "desktop": Desktop}, map[string][2]int64{"phone": Phone})
}

const (
	lifetime = 5 * time.Minute // of a browser; a loaded machine takes its time
	patience = 2 * time.Minute // of WaitFor
)

// A Window is one tab of a browser. What it cannot do ends the test; an error that a
// page reports fails it.
type Window struct {
	Context context.Context // for actions of chromedp

	t         testing.TB
	stop      context.CancelFunc
	listening *sync.WaitGroup // for the messages of the pages
}

// Open starts a browser with flags such as chromedp.Flag("lang", "de"). It ends with
// the test.
func Open(t testing.TB, size [2]int64, flags ...chromedp.ExecAllocatorOption) *Window {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs Chromium: Debian's package chromium")
	}
	w := &Window{t: t, listening: &sync.WaitGroup{}}
	t.Cleanup(w.listening.Wait)                                                                            // after the browser has ended
	all := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox) // root has no sandbox
	ctx, stop := chromedp.NewExecAllocator(t.Context(), append(all, flags...)...)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, lifetime)
	t.Cleanup(stop)
	w.Context, w.stop = chromedp.NewContext(ctx)
	t.Cleanup(w.stop)
	w.listen()
	w.Do("size of the window", chromedp.EmulateViewport(size[0], size[1]))
	return w
}

// Tab opens another tab of the same browser, which shares its cookies.
func (w *Window) Tab() *Window {
	w.t.Helper()
	ctx, stop := chromedp.NewContext(w.Context)
	w.t.Cleanup(stop)
	other := &Window{Context: ctx, t: w.t, stop: stop, listening: w.listening}
	other.listen()
	return other
}

// Close closes the tab, and the browser with its first one, before the test ends. Then
// every message of its pages has been read.
func (w *Window) Close() {
	w.stop()
	w.listening.Wait()
}

// listen fails the test where a page reports an error.
func (w *Window) listen() {
	w.t.Helper()
	w.Do("start", chromedp.Navigate("about:blank"))
	messages := chromedp.Console(w.Context)
	w.listening.Go(func() {
		for m, err := range messages {
			if err != nil {
				return // the tab is closed
			}
			if m.IsException() || m.Type == "error" && m.Source != "network" { // a refused request is an error of the network
				w.t.Errorf("a page reports: %s", m)
			}
		}
	})
}

// Do runs actions.
func (w *Window) Do(what string, actions ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	if err := chromedp.Do(w.Context, actions...); err != nil {
		w.t.Fatalf("%s: %v%s", what, err, w.Shot("failed"))
	}
}

// Value runs an action that has a value.
func Value[T any](w *Window, what string, action chromedp.Action[T]) T {
	w.t.Helper()
	v, err := chromedp.Run(w.Context, action)
	if err != nil {
		w.t.Fatalf("%s: %v%s", what, err, w.Shot("failed"))
	}
	return v
}

// Go shows the page of an address.
func (w *Window) Go(address string) {
	w.t.Helper()
	w.Do("open "+address, chromedp.Navigate(address), chromedp.WaitVisible(chromedp.CSS("body")))
}

// WaitFor waits until an expression of JavaScript is true, also on the page after this
// one.
func (w *Window) WaitFor(what, expression string) {
	w.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		ok, err := chromedp.Run(w.Context, chromedp.Evaluate[bool](expression)) // fails while a page is left
		if err == nil && ok {
			return
		}
		if time.Now().After(end) {
			w.t.Fatalf("%s: %s is %t (%v)%s", what, expression, ok, err, w.Shot("failed"))
		}
	}
}

// Path returns the path of the page's address.
func (w *Window) Path() string {
	w.t.Helper()
	return Value(w, "path", chromedp.Evaluate[string]("location.pathname"))
}

// Text returns the text of the first element of a selector of CSS.
func (w *Window) Text(selector string) string {
	w.t.Helper()
	return strings.TrimSpace(Value(w, "text of "+selector, chromedp.TextContent(chromedp.CSS(selector))))
}

// Overflow returns by how many pixels the page is wider than the window.
func (w *Window) Overflow() int {
	w.t.Helper()
	return Value(w, "width", chromedp.Evaluate[int]("document.documentElement.scrollWidth - document.documentElement.clientWidth"))
}

// Sheets returns how many sheets of A4 the page takes in print.
func (w *Window) Sheets() int {
	w.t.Helper()
	pdf := Value(w, "print", chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4), chromedp.PDFPreferCSSPageSize()))
	if dir := os.Getenv("SCREENSHOTS"); dir != "" {
		if err := os.WriteFile(w.file(dir, "print.pdf"), pdf, 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
	return bytes.Count(pdf, []byte("/Type /Page\n"))
}

// Shot stores a picture of the page, if SCREENSHOTS is set, and returns a note of it
// for the message of an error.
func (w *Window) Shot(name string) string {
	w.t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return ""
	}
	picture, err := chromedp.Run(w.Context, chromedp.FullScreenshot(100))
	if err != nil {
		return fmt.Sprintf(" (no picture: %v)", err)
	}
	file := w.file(dir, name+".png")
	if err := os.WriteFile(file, picture, 0o644); err != nil {
		w.t.Fatal(err)
	}
	return " (see " + file + ")"
}

// file is where a picture or a print is stored.
func (w *Window) file(dir, name string) string {
	return filepath.Join(dir, strings.ReplaceAll(w.t.Name(), "/", "-")+"-"+name)
}
