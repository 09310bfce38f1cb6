package dam

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
)

// A converted model is a file of the tensors of a network, in the order in which
// the network reads them, as float32 with adapters folded in:
//
//	magic    16 bytes
//	length   of the header in bytes, uint32, little-endian
//	header   JSON: the shape, where the model came from, and for each tensor
//	         name, dimensions and CRC-32C, in the order of Shape.Tensors
//	padding  zeros up to a multiple of 64 bytes
//	numbers  of the tensors one after the other, float32, little-endian
const (
	fileMagic = "voicescreen-dam\x01"

	// maxHeader and maxValues bound the header in bytes and in values, so that
	// a broken file does not take memory out of proportion to its size. Chosen:
	// the published shape has about 50,000 bytes and 2,400 values.
	maxHeader = 256 << 10
	maxValues = 4096

	fileAlign = 64 // bytes of a cache line
)

// ErrFile is wrapped by the errors about a converted model that is broken or of
// another format.
var ErrFile = errors.New("dam: not a readable model file")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// fileHeader is the header of a converted model.
type fileHeader struct {
	Shape   Shape        `json:"shape"`
	Source  string       `json:"source_sha256,omitempty"` // of the checkpoint, in hexadecimal
	Tensors []fileTensor `json:"tensors"`
}

type fileTensor struct {
	Name string `json:"name"`
	Dims []int  `json:"dims"`
	CRC  uint32 `json:"crc32c"`
}

// decode reads the text of a header. A missing member stays zero, which does
// not fit any shape or checksum.
func (h *fileHeader) decode(text []byte) error {
	if n := bytes.Count(text, []byte{','}); n > maxValues {
		return fmt.Errorf("more than %d values", maxValues)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(h); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the JSON value")
	}
	return nil
}

// count returns the number of elements of a tensor of these dimensions.
func count(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// writeFile writes a converted model. It reads each tensor twice, first for its
// checksum, so that one tensor at a time is in memory.
func writeFile(w io.Writer, s Shape, source string, read TensorReader) error {
	h := fileHeader{Shape: s, Source: source}
	err := eachTensor(s, read, func(name string, dims []int, b []byte) error {
		h.Tensors = append(h.Tensors, fileTensor{name, slices.Clone(dims), crc32.Checksum(b, castagnoli)})
		return nil
	})
	if err != nil {
		return err
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	head := binary.LittleEndian.AppendUint32([]byte(fileMagic), uint32(len(text)))
	head = append(head, text...)
	head = append(head, make([]byte, -len(head)&(fileAlign-1))...)
	if _, err := w.Write(head); err != nil {
		return err
	}
	return eachTensor(s, read, func(_ string, _ []int, b []byte) error {
		_, err := w.Write(b)
		return err
	})
}

// eachTensor calls f with the bytes of each tensor, which are valid until f
// returns.
func eachTensor(s Shape, read TensorReader, f func(name string, dims []int, b []byte) error) error {
	var x []float32
	var b []byte
	for name, dims := range s.Tensors() {
		n := count(dims)
		x, b = slices.Grow(x[:0], n)[:n], b[:0]
		if err := read(x, name, dims); err != nil {
			return err
		}
		for _, v := range x {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		if err := f(name, dims, b); err != nil {
			return err
		}
	}
	return nil
}

// modelFile is an open converted model.
type modelFile struct {
	r       io.ReaderAt
	header  fileHeader
	tensors map[string]placed
}

type placed struct {
	fileTensor
	at int64 // of the first byte
}

// openFile reads the header of a converted model of size bytes and shape s. The
// tensors stay in r. Errors wrap ErrFile or ErrWeights.
func openFile(r io.ReaderAt, size int64, s Shape) (*modelFile, error) {
	head := make([]byte, len(fileMagic)+4)
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	if string(head[:len(fileMagic)]) != fileMagic {
		return nil, fmt.Errorf("%w: it begins with other bytes", ErrFile)
	}
	n := int64(binary.LittleEndian.Uint32(head[len(fileMagic):]))
	if n > maxHeader {
		return nil, fmt.Errorf("%w: a header of %d bytes, want at most %d", ErrFile, n, maxHeader)
	}
	if n > size-int64(len(head)) {
		return nil, fmt.Errorf("%w: the header reaches beyond the end", ErrFile)
	}
	text := make([]byte, n)
	if _, err := r.ReadAt(text, int64(len(head))); err != nil {
		return nil, fmt.Errorf("%w: header: %w", ErrFile, err)
	}
	f := &modelFile{r: r, tensors: map[string]placed{}}
	if err := f.header.decode(text); err != nil {
		return nil, fmt.Errorf("%w: header: %w", ErrFile, err)
	}
	if f.header.Shape != s {
		return nil, fmt.Errorf("%w: the file is for the shape %+v, want %+v", ErrWeights, f.header.Shape, s)
	}
	at := int64(len(head)) + n
	at += -at & (fileAlign - 1)
	return f, f.place(at, size)
}

// place checks the tensors against the shape and the size of the file.
func (f *modelFile) place(at, size int64) error {
	i := 0
	for name, dims := range f.header.Shape.Tensors() {
		if i == len(f.header.Tensors) {
			return fmt.Errorf("%w: %s is missing", ErrWeights, name)
		}
		t := f.header.Tensors[i]
		if t.Name != name || !slices.Equal(t.Dims, dims) {
			return fmt.Errorf("%w: %s %v is in the place of %s %v", ErrWeights, t.Name, t.Dims, name, dims)
		}
		f.tensors[name] = placed{t, at}
		at += 4 * int64(count(dims))
		if at > size {
			return fmt.Errorf("%w: %s reaches beyond the end", ErrFile, name)
		}
		i++
	}
	if i < len(f.header.Tensors) {
		return fmt.Errorf("%w: %s is unknown", ErrWeights, f.header.Tensors[i].Name)
	}
	if at != size {
		return fmt.Errorf("%w: %d bytes after the last tensor", ErrFile, size-at)
	}
	return nil
}

// read is a TensorReader.
func (f *modelFile) read(dst []float32, name string, dims []int) error {
	t, ok := f.tensors[name]
	if !ok {
		return fmt.Errorf("%w: %s is missing", ErrWeights, name)
	}
	if !slices.Equal(t.Dims, dims) {
		return fmt.Errorf("%w: %s is %v, want %v", ErrWeights, name, t.Dims, dims)
	}
	block := make([]byte, min(readBlock, 4*len(dst)))
	crc, at := uint32(0), t.at
	for len(dst) > 0 {
		b := block[:min(len(block), 4*len(dst))]
		if _, err := f.r.ReadAt(b, at); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrFile, name, err)
		}
		crc = crc32.Update(crc, castagnoli, b)
		float32s.decode(dst[:len(b)/4], b)
		dst, at = dst[len(b)/4:], at+int64(len(b))
	}
	if crc != t.CRC {
		return fmt.Errorf("%w: %s: the checksum is wrong", ErrFile, name)
	}
	return nil
}
