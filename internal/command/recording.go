package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/voicescreen/voicescreen/features"
)

// openFile opens a file. The path "-" is standard input unless stdin is nil. The error
// does not contain the path.
func openFile(path string, stdin io.Reader) (io.ReadCloser, error) {
	if path == "-" && stdin != nil {
		return io.NopCloser(stdin), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, Bare(err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, errors.New("is a directory")
	}
	return f, nil
}

// Bare removes the path from an error of package os.
func Bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// ReadFile reads one channel of the recording at path: 1 for the first, or 0 for the only
// one. The path "-" is standard input unless stdin is nil. The error does not contain the
// path.
func ReadFile(ctx context.Context, path string, stdin io.Reader, channel int) (*features.Channel, error) {
	f, err := openFile(path, stdin)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return features.ReadChannel(ctx, f, channel, 0)
}

// Warnings returns a warning for each part of the file that c does not contain.
func Warnings(c *features.Channel) []string {
	return NotWhole(c.Truncated, c.Partial, float64(len(c.Samples))/float64(c.Rate))
}

// NotWhole returns a warning for each part of a file that was not analysed. Seconds is the
// length that was analysed.
func NotWhole(truncated, partial bool, seconds float64) []string {
	var w []string
	if truncated {
		w = append(w, "the file is cut short; the part that is there is analysed")
	}
	if partial {
		w = append(w, fmt.Sprintf("only the first %.1f minutes are analysed", seconds/60))
	}
	return w
}
