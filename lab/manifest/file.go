package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/voicescreen/voicescreen/screen"
)

// A File is a manifest on disk.
type File struct {
	Dir     string // of the file: paths are relative to it
	Rows    []Row
	Skipped []*RowError // rows that cannot be read
}

// Open reads the manifest at path. See [Read] for what it holds.
func Open(path string, task screen.Category) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, fmt.Errorf("manifest %s: %w", path, err)
	}
	defer f.Close()
	rows, skipped, err := Read(f, task)
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w", path, err)
	}
	return &File{filepath.Dir(path), rows, skipped}, nil
}

// Path is where the recording lies that a row calls path.
func (f *File) Path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(f.Dir, filepath.FromSlash(path))
}
