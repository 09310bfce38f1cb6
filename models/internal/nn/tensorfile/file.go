package tensorfile

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"math"
	"slices"
)

// A converted model is a file of the tensors of a network, in the order in which
// the network reads them, as float32 with adapters folded in. A number may also be a word
// of other numbers, such as four integers of eight bits; the network knows which:
//
//	magic    MagicSize bytes
//	length   of the header in bytes, uint32, little-endian
//	header   JSON: the shape, where the model came from, and for each tensor
//	         name, dimensions and CRC-32C, in the order of Shape.Tensors
//	padding  zeros up to a multiple of 64 bytes
//	numbers  of the tensors one after the other, float32, little-endian
const (
	// MagicSize is the length of the magic of every kind of converted model.
	MagicSize = 16

	// MaxHeader and MaxValues bound the header in bytes and in values, so that
	// a broken file does not take memory out of proportion to its size. Chosen:
	// the header of DAM 3.1 has about 50,000 bytes and 2,400 values.
	MaxHeader = 256 << 10
	MaxValues = 4096

	fileAlign = 64 // bytes of a cache line
)

// ErrFile is wrapped by the errors about a converted model that is broken or of
// another format.
var ErrFile = errors.New("not a readable model file")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A Shape describes a network, so that it determines its tensors. It has a JSON form.
type Shape interface {
	// Tensors yields the name and the dimensions of each tensor, in the order in
	// which the network reads them.
	Tensors() iter.Seq2[string, []int]
}

// Header is the header of a converted model.
type Header[S Shape] struct {
	Shape   S        `json:"shape"`
	Source  string   `json:"source_sha256,omitempty"` // of the file that was converted, in hexadecimal
	Tensors []Tensor `json:"tensors"`
}

// Tensor is a tensor in the header of a converted model.
type Tensor struct {
	Name string `json:"name"`
	Dims []int  `json:"dims"`
	CRC  uint32 `json:"crc32c"` // of its bytes
}

// decode reads the text of a header. A missing member stays zero, which does
// not fit any shape or checksum.
func (h *Header[S]) decode(text []byte) error {
	n := bytes.Count(text, []byte{','})
	if n > MaxValues {
		return fmt.Errorf("more than %d values", MaxValues)
	}
	h.Tensors = make([]Tensor, 0, n+1) // a list that grows would take three times as much
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

// Write writes a converted model that begins with magic, of MagicSize bytes. It
// reads each tensor twice with read, first for its checksum, so that one tensor at a
// time is in memory. Source is the SHA-256 of the file that is converted, or "".
func Write[S Shape](w io.Writer, magic string, s S, source string, read func(dst []float32, name string, dims []int) error) error {
	h := Header[S]{Shape: s, Source: source}
	err := eachTensor(s, read, func(name string, dims []int, b []byte) error {
		h.Tensors = append(h.Tensors, Tensor{name, slices.Clone(dims), crc32.Checksum(b, castagnoli)})
		return nil
	})
	if err != nil {
		return err
	}
	head, err := h.Append(nil, magic)
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	return eachTensor(s, read, func(_ string, _ []int, b []byte) error {
		_, err := w.Write(b)
		return err
	})
}

// Append appends all that stands before the numbers of the tensors to b. It panics
// if magic does not have MagicSize bytes.
func (h *Header[S]) Append(b []byte, magic string) ([]byte, error) {
	if len(magic) != MagicSize {
		panic(fmt.Sprintf("tensorfile: magic of %d bytes, want %d", len(magic), MagicSize))
	}
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	head := binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(text)))
	head = append(head, text...)
	head = append(head, make([]byte, -len(head)&(fileAlign-1))...)
	return append(b, head...), nil
}

// eachTensor calls f with the bytes of each tensor, which are valid until f
// returns.
func eachTensor(s Shape, read func(dst []float32, name string, dims []int) error, f func(name string, dims []int, b []byte) error) error {
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

// File is an open converted model. It is safe for concurrent use if its reader is.
type File[S Shape] struct {
	r       io.ReaderAt
	header  Header[S]
	tensors map[string]placed
}

type placed struct {
	Tensor
	at int64 // of the first byte
}

// Open reads the header of a converted model of size bytes that begins with magic.
// check returns an error if the network cannot have the shape in the file; the sizes
// of a shape that passes must be so bounded that the product of the dimensions of each
// tensor fits an int. The tensors stay in r, which must stay open while the file is in
// use. Errors wrap ErrFile, ErrWeights or the error of check.
func Open[S Shape](r io.ReaderAt, size int64, magic string, check func(S) error) (*File[S], error) {
	head := make([]byte, MagicSize+4)
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	if string(head[:MagicSize]) != magic {
		return nil, fmt.Errorf("%w: it begins with other bytes", ErrFile)
	}
	n := int64(binary.LittleEndian.Uint32(head[MagicSize:]))
	if n > MaxHeader {
		return nil, fmt.Errorf("%w: a header of %d bytes, want at most %d", ErrFile, n, MaxHeader)
	}
	if n > size-int64(len(head)) {
		return nil, fmt.Errorf("%w: the header reaches beyond the end", ErrFile)
	}
	text := make([]byte, n)
	if _, err := r.ReadAt(text, int64(len(head))); err != nil {
		return nil, fmt.Errorf("%w: header: %w", ErrFile, err)
	}
	f := &File[S]{r: r, tensors: map[string]placed{}}
	if err := f.header.decode(text); err != nil {
		return nil, fmt.Errorf("%w: header: %w", ErrFile, err)
	}
	if err := check(f.header.Shape); err != nil {
		return nil, err
	}
	at := int64(len(head)) + n
	at += -at & (fileAlign - 1)
	return f, f.place(at, size)
}

// Shape returns the shape in the header.
func (f *File[S]) Shape() S { return f.header.Shape }

// place checks the tensors against the shape and the size of the file.
func (f *File[S]) place(at, size int64) error {
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

// Read reads a tensor, which must have the dimensions dims, into dst, whose length is
// their product, and verifies its checksum. The error wraps ErrWeights if the tensor
// is missing or has other dimensions, otherwise ErrFile.
func (f *File[S]) Read(dst []float32, name string, dims []int) error {
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
