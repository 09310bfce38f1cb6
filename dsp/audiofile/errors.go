package audiofile

import (
	"errors"
	"fmt"
	"io"
)

// A FormatError describes the defect of a broken file. It begins with the name of
// the format. A broken WAV file gives a wav.FormatError, and so do bytes of no known
// format.
type FormatError string

func (e FormatError) Error() string { return "audiofile: invalid file: " + string(e) }

// An UnsupportedError names a format, or the property of a file, that this package
// does not read, and the command that converts the file. An encoding of WAV files
// that is not read gives a wav.UnsupportedError.
type UnsupportedError string

func (e UnsupportedError) Error() string { return "audiofile: unsupported: " + string(e) }

// refuse returns an UnsupportedError for what, in files with the extension.
func refuse(what, extension string) error {
	return UnsupportedError(what + "; convert it with \"ffmpeg -i in." + extension + " -ac 1 -ar 44100 out.wav\"")
}

// A fault is where and how a file of a format is broken.
func fault(format, text string, args ...any) error {
	return FormatError(format + ": " + fmt.Sprintf(text, args...))
}

// keeper passes on a reader and keeps its first error, so that an error of the reader
// is not mistaken for one of the file.
type keeper struct {
	r   io.Reader
	err error // nil, io.EOF, or what r failed with
}

func (k *keeper) Read(p []byte) (int, error) {
	if k.err != nil {
		return 0, k.err
	}
	n, err := k.r.Read(p)
	k.err = err
	return n, err
}

// failure returns the error of the reader, with what was being done, or nil if the
// reader did not fail. Err is what a decoder ended with.
func (k *keeper) failure(err error) error {
	switch {
	case k.err != nil && k.err != io.EOF:
		return fmt.Errorf("audiofile: read: %w", k.err)
	case errors.Is(err, io.ErrNoProgress):
		return fmt.Errorf("audiofile: read: %w", err)
	}
	return nil
}

// ended reports whether err is the end of the file.
func ended(err error) bool { return err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) }
