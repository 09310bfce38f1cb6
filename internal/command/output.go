package command

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Output is a file that gets its name once it is complete. It keeps the mode of a file
// that it replaces; the umask determines that of a new file. A nil Output writes nothing.
type Output struct {
	tmp  *os.File
	path string
}

// NewOutput opens an output at path. An error shows before the work that the file cannot
// be written. The caller must call Discard at the end.
func NewOutput(path string) (*Output, error) {
	mode := os.FileMode(0o666) // less the umask
	info, err := os.Stat(path)
	former := err == nil && info.Mode().IsRegular()
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("write %s: is a directory", path)
	case former:
		mode = info.Mode().Perm()
	}
	o, err := newOutput(path, mode)
	if err != nil {
		return nil, err
	}
	if former { // the umask may have cleared bits of the mode
		if err := o.tmp.Chmod(mode); err != nil {
			o.Discard()
			return nil, fmt.Errorf("write %s: %w", path, Bare(err))
		}
	}
	return o, nil
}

// NewPrivateOutput opens an output that only its owner can read, for personal data. The
// error wraps fs.ErrExist if there is a file at path: it may be irreplaceable.
func NewPrivateOutput(path string) (*Output, error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("write %s: %w", path, fs.ErrExist)
	}
	return newOutput(path, 0o600)
}

func newOutput(path string, mode os.FileMode) (*Output, error) {
	tmp, err := os.OpenFile(path+"."+rand.Text()+".tmp", os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, Bare(err))
	}
	return &Output{tmp, path}, nil
}

// Finish calls write with the file, closes it and gives it its name.
func (o *Output) Finish(write func(io.Writer) error) error {
	if o == nil {
		return nil
	}
	err := errors.Join(write(o.tmp), o.tmp.Close())
	if err == nil {
		err = os.Rename(o.tmp.Name(), o.path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", o.path, err)
	}
	return nil
}

// Discard removes an output that Finish did not complete.
func (o *Output) Discard() {
	if o == nil {
		return
	}
	o.tmp.Close()           // fails if Finish closed it
	os.Remove(o.tmp.Name()) // fails if Finish renamed it
}
