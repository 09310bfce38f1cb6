package command

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress is a progress bar on a terminal. A nil Progress shows nothing.
type Progress struct{ bar *progressbar.ProgressBar }

// NewProgress returns a progress bar of n steps, or nil if w is not a terminal or n is
// less than 2.
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
		progressbar.OptionThrottle(50*time.Millisecond), // chosen: it looks smooth and costs little
		progressbar.OptionClearOnFinish(),
	)}
}

// Step counts one more step. Errors of the terminal are ignored.
func (p *Progress) Step() {
	if p != nil {
		_ = p.bar.Add(1)
	}
}

// Hide clears the bar, so that other output can follow. The next Step shows it again.
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
