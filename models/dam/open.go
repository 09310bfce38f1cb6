package dam

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/voicescreen/voicescreen/models/internal/nn/tensorfile"
)

// ErrCheckpoint is wrapped by the errors about a checkpoint that is broken or not
// supported. The message names the fault.
var ErrCheckpoint = tensorfile.ErrCheckpoint

// ErrFile is wrapped by the errors about a converted model that is broken or of
// another format.
var ErrFile = tensorfile.ErrFile

// ErrChecksum is wrapped by the error about a file whose checksum is not the
// expected one.
var ErrChecksum = errors.New("dam: the file has another checksum")

// fileMagic begins every converted model of float32, and int8Magic every one of integers
// of eight bits.
const (
	fileMagic = "voicescreen-dam\x01"
	int8Magic = "voicescreen-dam\x02"
)

// zipMagic begins every zip file, and so every checkpoint.
const zipMagic = "PK\x03\x04"

// Is reports whether a file that begins with head can be a model that Open reads.
// 16 bytes are enough.
func Is(head []byte) bool {
	return strings.HasPrefix(string(head), zipMagic) || strings.HasPrefix(string(head), fileMagic) || strings.HasPrefix(string(head), int8Magic)
}

// Open loads the model at path: the published checkpoint, dam3.1.ckpt, or the
// output of Convert, which loads faster, or of ConvertInt8. It closes the file before it
// returns. The model takes 0.71 GB for weights, and activations for Options.Chunks;
// loading takes the memory of one tensor besides. The weights that ConvertInt8 wrote,
// 0.19 GB, stay in the file, which must not change while the model is in use. Errors
// wrap ErrCheckpoint, ErrFile, ErrWeights, ErrChecksum or an error of package os.
func Open(path string, opts *ScorerOptions) (*Model, error) {
	return openShape(path, Published, opts)
}

// openShape is Open for a network of shape s.
func openShape(path string, s Shape, opts *ScorerOptions) (*Model, error) {
	if opts == nil {
		opts = &ScorerOptions{}
	}
	var n *Network
	err := withFile(path, opts.SHA256, func(f *os.File, size int64) (err error) {
		if n, err = openInt8(f, size, s, &opts.Options); n != nil || err != nil {
			return err
		}
		read, err := tensors(f, size, s)
		if err != nil {
			return err
		}
		n, err = NewNetwork(s, read, &opts.Options)
		return err
	})
	if err != nil {
		return nil, err
	}
	return newModel(n, opts)
}

// Convert writes the model at path in the format that Open reads fastest. checksum
// is the SHA-256 that the file must have, in hexadecimal; "" accepts any file.
func Convert(w io.Writer, path, checksum string) error {
	return convertShape(w, path, Published, checksum, false)
}

// ConvertInt8 is Convert for integers of eight bits (Options.Int8), in which Open then
// runs the model.
func ConvertInt8(w io.Writer, path, checksum string) error {
	return convertShape(w, path, Published, checksum, true)
}

// convertShape is Convert for a network of shape s.
func convertShape(w io.Writer, path string, s Shape, checksum string, int8 bool) error {
	source, err := Checksum(path)
	if err != nil {
		return err
	}
	return withFile(path, checksum, func(f *os.File, size int64) error {
		read, err := tensors(f, size, s)
		if err != nil {
			return err
		}
		if int8 {
			return writeInt8(w, s, source, read)
		}
		return tensorfile.Write(w, fileMagic, s, source, read)
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

// withFile opens the file at path, calls use and closes the file.
func withFile(path, checksum string, use func(f *os.File, size int64) error) error {
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
	if err := use(f, info.Size()); err != nil {
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
		return f.Read, nil
	case strings.HasPrefix(string(head), zipMagic):
		c, err := tensorfile.OpenCheckpoint(r, size)
		if err != nil {
			return nil, err
		}
		return checkpoint{c}.reader(s)
	case strings.HasPrefix(string(head), int8Magic):
		return nil, fmt.Errorf("%w: its weights are rounded to eight bits already: take the published file", ErrFile)
	}
	return nil, fmt.Errorf("%w: neither a zip file nor a converted model", ErrCheckpoint)
}

// openFile reads the header of a converted model of float32 of size bytes and shape s.
func openFile(r io.ReaderAt, size int64, s Shape) (*tensorfile.File[Shape], error) {
	return tensorfile.Open(r, size, fileMagic, func(got Shape) error { return sameShape(got, s) })
}

// sameShape returns an error that wraps ErrWeights if a file has another shape than s.
func sameShape(got, s Shape) error {
	if got != s {
		return fmt.Errorf("%w: the file is for the shape %+v, want %+v", ErrWeights, got, s)
	}
	return nil
}
