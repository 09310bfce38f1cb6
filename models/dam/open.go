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

// ErrChecksum is wrapped by the error about a file whose checksum is not the
// expected one.
var ErrChecksum = errors.New("dam: the file has another checksum")

// zipMagic begins every zip file, and so every checkpoint.
const zipMagic = "PK\x03\x04"

// Is reports whether a file that begins with head can be a model that Open reads.
// 16 bytes are enough.
func Is(head []byte) bool {
	return strings.HasPrefix(string(head), zipMagic) || strings.HasPrefix(string(head), fileMagic)
}

// Open loads the model at path: the published checkpoint, dam3.1.ckpt, or the
// output of Convert, which loads faster. It closes the file before it returns. The
// model takes 0.71 GB for weights, and activations for Options.Chunks; loading
// takes the memory of one tensor besides. Errors wrap ErrCheckpoint, ErrFile,
// ErrWeights, ErrChecksum or an error of package os.
func Open(path string, opts *ScorerOptions) (*Model, error) {
	return openShape(path, Published, opts)
}

// openShape is Open for a network of shape s.
func openShape(path string, s Shape, opts *ScorerOptions) (*Model, error) {
	if opts == nil {
		opts = &ScorerOptions{}
	}
	var m *Model
	err := withTensors(path, s, opts.SHA256, func(read TensorReader) error {
		n, err := NewNetwork(s, read, &opts.Options)
		if err != nil {
			return err
		}
		m, err = newModel(n, opts)
		return err
	})
	return m, err
}

// Convert writes the model at path in the format that Open reads fastest. checksum
// is the SHA-256 that the file must have, in hexadecimal; "" accepts any file.
func Convert(w io.Writer, path, checksum string) error {
	return convertShape(w, path, Published, checksum)
}

// convertShape is Convert for a network of shape s.
func convertShape(w io.Writer, path string, s Shape, checksum string) error {
	source, err := Checksum(path)
	if err != nil {
		return err
	}
	return withTensors(path, s, checksum, func(read TensorReader) error {
		return writeFile(w, s, source, read)
	})
}

// Checksum returns the SHA-256 of the file at path in hexadecimal.
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

// withTensors opens the file at path, a checkpoint or a converted model, calls use
// and closes the file.
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

// tensors reads the directory of a checkpoint or the header of a converted model.
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
