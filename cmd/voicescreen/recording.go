package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/voicescreen/voicescreen/features"
)

// checkFiles returns a usage error if more than one file is standard input.
func checkFiles(files []string) error {
	n := 0
	for _, path := range files {
		if path == "-" {
			n++
		}
	}
	if n > 1 {
		return usagef("there is one standard input, want \"-\" once")
	}
	return nil
}

// openFile opens a file, or for "-" standard input unless stdin is nil. The
// error says what is wrong and not the path, which the caller adds.
func openFile(path string, stdin io.Reader) (io.ReadCloser, error) {
	if path == "-" && stdin != nil {
		return io.NopCloser(stdin), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, bare(err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, errors.New("is a directory")
	}
	return f, nil
}

// bare takes the path out of an error of package os.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// readFile reads one channel of the file at path, 0 for the only one; path is as
// of openFile. The error says what is wrong and not the path.
func readFile(ctx context.Context, path string, stdin io.Reader, channel int) (*features.Channel, error) {
	f, err := openFile(path, stdin)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return features.ReadChannel(ctx, f, channel, 0)
}

// warnings says what of the file is not in c.
func warnings(c *features.Channel) []string {
	return notWhole(c.Truncated, c.Partial, float64(len(c.Samples))/float64(c.Rate))
}

// notWhole says what of a file was not analysed; seconds were.
func notWhole(truncated, partial bool, seconds float64) []string {
	var w []string
	if truncated {
		w = append(w, "the file was cut short; it is analysed as far as it goes")
	}
	if partial {
		w = append(w, fmt.Sprintf("only the first %.1f minutes are analysed", seconds/60))
	}
	return w
}
