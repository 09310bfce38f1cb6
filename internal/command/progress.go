package command

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress is a bar on a terminal that shows how much of the work is done. A nil
// Progress shows nothing.
type Progress struct{ bar *progressbar.ProgressBar }

// NewProgress returns the progress of n steps, nil unless w is a terminal and n is
// at least 2.
func NewProgress(w io.Writer, n int, what string) *Progress {
	f, ok := w.(*os.File)
	if !ok || n < 2 || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &Progress{progressbar.NewOptions(n,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetWidth(30),                  // chosen: leaves room for the figures on 80 columns
		progressbar.OptionThrottle(50*time.Millisecond), // chosen: smooth to the eye, and nothing beside the work
		progressbar.OptionClearOnFinish(),
	)}
}

// Step counts one more step. Errors of the terminal are ignored.
func (p *Progress) Step() {
	if p != nil {
		_ = p.bar.Add(1)
	}
}

// Hide clears the bar before other output. The next step shows it again.
func (p *Progress) Hide() {
	if p != nil {
		_ = p.bar.Clear()
	}
}

// Finish removes the bar.
func (p *Progress) Finish() {
	if p != nil {
		_ = p.bar.Finish()
		_ = p.bar.Clear()
	}
}
