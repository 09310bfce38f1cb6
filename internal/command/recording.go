package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/voicescreen/voicescreen/dsp/wav"
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
// one. The path "-" is standard input unless stdin is nil. When ctx is done ReadFile does
// not wait for standard input. The error does not contain the path.
func ReadFile(ctx context.Context, path string, stdin io.Reader, channel int) (*features.Channel, error) {
	f, err := openFile(path, stdin)
	if err != nil {
		return nil, err
	}
	if path == "-" && stdin != nil {
		return readStdin(ctx, stdin, channel)
	}
	defer f.Close()
	return features.ReadChannel(ctx, f, channel, 0)
}

// OpenSource is [ReadFile] for a recording that is read in blocks, up to the length most,
// or features.MaxDuration where that is not positive. The caller closes the source.
func OpenSource(ctx context.Context, path string, stdin io.Reader, channel int, most time.Duration) (*features.Source, error) {
	if path == "-" && stdin != nil {
		return untilDone(ctx, func() (*features.Source, error) { return features.ReadSource(ctx, stdin, channel, most) })
	}
	return features.OpenSource(ctx, func() (io.ReadCloser, error) { return openFile(path, nil) }, channel, most)
}

// readStdin reads a recording from a pipe or a terminal, which may be slow.
func readStdin(ctx context.Context, stdin io.Reader, channel int) (*features.Channel, error) {
	return untilDone(ctx, func() (*features.Channel, error) { return features.ReadChannel(ctx, stdin, channel, 0) })
}

// untilDone returns what read returns. When ctx is done it returns before, and the
// goroutine that reads remains until read returns.
func untilDone[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		v, err := read()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// HelpChannel adds a remedy to an error about the channels of a recording: the flag
// --channel if the command has it, otherwise a program that mixes the channels. It returns
// other errors, and nil, as they are.
func HelpChannel(err error, hasFlag bool) error {
	var channel *wav.ChannelError
	switch {
	case !errors.As(err, &channel):
		return err
	case hasFlag && channel.Channels > 1:
		return fmt.Errorf("%w; choose one from 1 to %d with --channel", err, channel.Channels)
	case hasFlag:
		return fmt.Errorf("%w; leave out --channel", err)
	}
	return fmt.Errorf("%w; mix them with \"ffmpeg -i in.wav -ac 1 out.wav\"", err)
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
