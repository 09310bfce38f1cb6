package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows how far a command has come with its files, on a terminal. A
// nil progress shows nothing.
type progress struct{ bar *progressbar.ProgressBar }

// newProgress returns the progress through n files, nil unless w is a terminal
// and there are several.
func newProgress(w io.Writer, n int, what string) *progress {
	f, ok := w.(*os.File)
	if !ok || n < 2 || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &progress{progressbar.NewOptions(n,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetWidth(30),                  // chosen: leaves room for the figures on 80 columns
		progressbar.OptionThrottle(50*time.Millisecond), // chosen: smooth to the eye, and nothing beside the work
		progressbar.OptionClearOnFinish(),
	)}
}

// step says that one more file is done. The bar is decoration: an error of the
// terminal does not end the work.
func (p *progress) step() {
	if p != nil {
		_ = p.bar.Add(1)
	}
}

// hide takes the bar off the screen, before output, until the next step.
func (p *progress) hide() {
	if p != nil {
		_ = p.bar.Clear()
	}
}

// finish takes the bar off the screen for good.
func (p *progress) finish() {
	if p != nil {
		_ = p.bar.Finish()
		_ = p.bar.Clear()
	}
}
