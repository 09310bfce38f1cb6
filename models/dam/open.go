package dam

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// ErrChecksum says that a file is not the one whose checksum was given.
var ErrChecksum = errors.New("dam: the file has another checksum")

// zipMagic is what a zip file begins with, and so a checkpoint.
const zipMagic = "PK\x03\x04"

// Is says whether a file that begins with head, of which 16 bytes are enough,
// can be a model that Open reads.
func Is(head []byte) bool {
	return strings.HasPrefix(string(head), zipMagic) || strings.HasPrefix(string(head), fileMagic)
}

// Open loads the model at path: the published checkpoint, dam3.1.ckpt, or what
// Convert made of it, which loads faster. The file is closed when Open returns.
// Memory is that of the weights, 0.71 GB, one tensor, and the activations of
// Options.Chunks. Errors wrap ErrCheckpoint, ErrFile, ErrWeights or
// ErrChecksum, or come from the file.
func Open(path string, opts *ScorerOptions) (*Model, error) {
	if opts == nil {
		opts = &ScorerOptions{}
	}
	var m *Model
	err := withTensors(path, Published, opts.SHA256, func(read TensorReader) error {
		n, err := NewNetwork(Published, read, &opts.Options)
		if err != nil {
			return err
		}
		m, err = newModel(n, opts)
		return err
	})
	return m, err
}

// Convert writes the model at path in the form that Open reads fastest. The
// checksum is that of the file at path, "" for any.
func Convert(w io.Writer, path, checksum string) error {
	source, err := Checksum(path)
	if err != nil {
		return err
	}
	return withTensors(path, Published, checksum, func(read TensorReader) error {
		return writeFile(w, Published, source, read)
	})
}

// Checksum is the SHA-256 of the file at path in hexadecimal.
func Checksum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("dam: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("dam: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// withTensors opens the file at path, of either kind, while use runs.
func withTensors(path string, s Shape, checksum string, use func(TensorReader) error) error {
	if checksum != "" {
		got, err := Checksum(path)
		if err != nil {
			return err
		}
		if !strings.EqualFold(got, checksum) {
			return fmt.Errorf("%w: %s has %s, want %s", ErrChecksum, path, got, checksum)
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("dam: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("dam: %w", err)
	}
	read, err := tensors(f, info.Size(), s)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := use(read); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// tensors reads the directory of a file of either kind.
func tensors(r io.ReaderAt, size int64, s Shape) (TensorReader, error) {
	head := make([]byte, len(fileMagic))
	n, err := r.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch head = head[:n]; {
	case strings.HasPrefix(string(head), fileMagic):
		f, err := openFile(r, size, s)
		if err != nil {
			return nil, err
		}
		return f.read, nil
	case strings.HasPrefix(string(head), zipMagic):
		c, err := openCheckpoint(r, size)
		if err != nil {
			return nil, err
		}
		return c.reader(s)
	}
	return nil, fmt.Errorf("%w: neither a zip file nor a converted model", ErrCheckpoint)
}
