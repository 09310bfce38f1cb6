package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// output is a file that appears under its name once it is complete. Opening it
// finds out at once, before the work, whether it can be written. A nil output
// is a file that nobody asked for.
type output struct {
	tmp  *os.File
	path string
}

func newOutput(path string) (*output, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("write %s: is a directory", path)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, bare(err))
	}
	return &output{tmp, path}, nil
}

// finish writes the file and gives it its name.
func (o *output) finish(write func(io.Writer) error) error {
	if o == nil {
		return nil
	}
	err := write(o.tmp)
	if err == nil {
		err = o.tmp.Chmod(0o644) // CreateTemp lets nobody else read it
	}
	err = errors.Join(err, o.tmp.Close())
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
