package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
)

// output is a file that appears under its name once it is complete. Opening it
// finds out at once, before the work, whether it can be written. Who may read it
// is up to the umask, or as it was where it takes the place of a file: that one
// may be closed to others. A nil output is a file that nobody asked for.
type output struct {
	tmp  *os.File
	path string
}

func newOutput(path string) (*output, error) {
	mode := os.FileMode(0o666) // less the umask
	info, err := os.Stat(path)
	former := err == nil && info.Mode().IsRegular()
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("write %s: is a directory", path)
	case former:
		mode = info.Mode().Perm()
	}
	tmp, err := os.OpenFile(path+"."+rand.Text()+".tmp", os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, bare(err))
	}
	o := &output{tmp, path}
	if former { // the umask may have taken of its mode
		if err := tmp.Chmod(mode); err != nil {
			o.discard()
			return nil, fmt.Errorf("write %s: %w", path, bare(err))
		}
	}
	return o, nil
}

// finish writes the file and gives it its name.
func (o *output) finish(write func(io.Writer) error) error {
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

// discard removes what finish did not give a name.
func (o *output) discard() {
	if o == nil {
		return
	}
	o.tmp.Close()           // an error means that it is closed
	os.Remove(o.tmp.Name()) // an error means that it was renamed
}
