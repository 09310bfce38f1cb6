package tensorfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/bits"
	"slices"
)

// A safetensors file (Hugging Face, github.com/huggingface/safetensors) is
//
//	length   of the header in bytes, uint64, little-endian
//	header   JSON: for each tensor its name with dtype, shape and data_offsets, the
//	         first byte and the one after the last, counted from the end of the
//	         header; and under __metadata__ texts about the file
//	numbers  of the tensors, little-endian, row by row, without gaps or overlaps
//
// It has no checksum.
const (
	// MaxSafetensorsHeader is the size of the longest header that is read, in
	// bytes. That of a network of 48 layers has about 110,000.
	MaxSafetensorsHeader = 256 << 10

	// maxSafetensorsValues bounds the values in a header, so that a broken file
	// does not take memory out of proportion to its size. Chosen: a network of 48
	// layers has about 5,000.
	maxSafetensorsValues = 8192

	metadataKey = "__metadata__"
)

// ErrSafetensors is wrapped by the errors about a safetensors file that is broken or
// not supported. The message names the fault.
var ErrSafetensors = errors.New("not a readable safetensors file")

// safetensorsTypes are the supported types of numbers.
var safetensorsTypes = map[string]dtype{"F32": float32s, "F16": float16s, "BF16": bfloat16s}

// Safetensors is an open safetensors file. Its tensors are read from the file on
// demand. It is safe for concurrent use if the file is.
type Safetensors struct {
	r       io.ReaderAt
	tensors map[string]saved
}

// saved is a tensor in a safetensors file.
type saved struct {
	dtype    dtype  // 0 for one that is not supported
	named    string // the type as the file names it
	dims     []int
	from, to int64 // its first byte in the file, and the one after its last
}

// IsSafetensors reports whether a file that begins with head can be a safetensors
// file. 16 bytes are enough.
func IsSafetensors(head []byte) bool {
	return len(head) > 8 && binary.LittleEndian.Uint64(head) <= MaxSafetensorsHeader && head[8] == '{'
}

// OpenSafetensors reads the header of a safetensors file of size bytes. Tensors of
// types other than F32, F16 and BF16 may be there, but not be read. The tensors stay
// in r, which must stay open while the file is in use. Errors wrap ErrSafetensors.
func OpenSafetensors(r io.ReaderAt, size int64) (*Safetensors, error) {
	s := &Safetensors{r: r, tensors: map[string]saved{}}
	if err := s.open(size); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSafetensors, err)
	}
	return s, nil
}

func (s *Safetensors) open(size int64) error {
	var length [8]byte
	if _, err := s.r.ReadAt(length[:], 0); err != nil {
		return fmt.Errorf("length of the header: %w", err)
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > MaxSafetensorsHeader {
		return fmt.Errorf("a header of %d bytes, want at most %d", n, MaxSafetensorsHeader)
	}
	start := int64(len(length)) + int64(n)
	if start > size {
		return errors.New("the header reaches beyond the end")
	}
	text := make([]byte, n) // at most the size of the file
	if _, err := s.r.ReadAt(text, int64(len(length))); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	if err := s.header(text, start, size); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	return s.checkGaps(start, size)
}

// header reads the text of a header. The numbers of the tensors are the bytes of the
// file from start to size.
func (s *Safetensors) header(text []byte, start, size int64) error {
	if n := bytes.Count(text, []byte{','}); n > maxSafetensorsValues {
		return fmt.Errorf("more than %d values", maxSafetensorsValues)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("it is not a JSON object")
	}
	seen := false // the metadata
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		if name == metadataKey {
			var texts json.RawMessage // not used
			if err := d.Decode(&texts); err != nil || texts[0] != '{' {
				return fmt.Errorf("%s is not a JSON object", metadataKey)
			}
			if seen {
				return fmt.Errorf("%s is there twice", metadataKey)
			}
			seen = true
			continue
		}
		if _, ok := s.tensors[name]; ok {
			return fmt.Errorf("%.200q is there twice", name)
		}
		tensor, err := decodeSaved(d, start, size)
		if err != nil {
			return fmt.Errorf("%.200q: %w", name, err)
		}
		s.tensors[name] = tensor
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the JSON value")
	}
	return nil
}

// decodeSaved reads the description of one tensor.
func decodeSaved(d *json.Decoder, start, size int64) (saved, error) {
	var v struct {
		DType   string   `json:"dtype"`
		Shape   []uint64 `json:"shape"`
		Offsets []uint64 `json:"data_offsets"`
	}
	if err := d.Decode(&v); err != nil {
		return saved{}, err
	}
	if v.Shape == nil || len(v.Shape) > maxDims {
		return saved{}, fmt.Errorf("%d sizes, want a list of at most %d", len(v.Shape), maxDims)
	}
	if len(v.Offsets) != 2 || v.Offsets[0] > v.Offsets[1] || v.Offsets[1] > uint64(size-start) {
		return saved{}, fmt.Errorf("data_offsets are %.3d, want two in order within the %d bytes of the numbers", v.Offsets[:min(len(v.Offsets), 3)], size-start)
	}
	t := saved{
		dtype: safetensorsTypes[v.DType], named: v.DType, dims: make([]int, len(v.Shape)),
		from: start + int64(v.Offsets[0]), to: start + int64(v.Offsets[1]),
	}
	n := uint64(1)
	for i, size := range v.Shape {
		hi, lo := bits.Mul64(n, size)
		if hi != 0 || lo > math.MaxInt32 || size > math.MaxInt32 {
			return saved{}, fmt.Errorf("sizes are %d, too many numbers", v.Shape)
		}
		t.dims[i], n = int(size), lo
	}
	if t.dtype != 0 && t.to-t.from != int64(n)*int64(t.dtype.size()) {
		return saved{}, fmt.Errorf("%d bytes, want %d numbers of type %s", t.to-t.from, n, v.DType)
	}
	return t, nil
}

// checkGaps returns an error unless the tensors fill the bytes from start to size, each
// byte once, as the format requires.
func (s *Safetensors) checkGaps(start, size int64) error {
	names := s.Names()
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(s.tensors[a].from, s.tensors[b].from), cmp.Compare(s.tensors[a].to, s.tensors[b].to))
	})
	at := start
	for _, name := range names {
		t := s.tensors[name]
		if t.from != at {
			return fmt.Errorf("%.200q begins at byte %d, want %d: bytes are used twice or not at all", name, t.from-start, at-start)
		}
		at = t.to
	}
	if at != size {
		return fmt.Errorf("%d bytes after the last tensor", size-at)
	}
	return nil
}

// Names returns the names of the tensors in alphabetical order. The slice is the
// caller's.
func (s *Safetensors) Names() []string { return slices.Sorted(maps.Keys(s.tensors)) }

// Dims returns the dimensions of the tensor of a name, or false if there is none. The
// slice must not be changed.
func (s *Safetensors) Dims(name string) ([]int, bool) {
	t, ok := s.tensors[name]
	return t.dims, ok
}

// Read reads a tensor, which must have the dimensions dims, into dst, whose length is
// their product. The error wraps ErrWeights if the tensor is missing or has other
// dimensions, otherwise ErrSafetensors.
func (s *Safetensors) Read(dst []float32, name string, dims []int) error {
	t, ok := s.tensors[name]
	if !ok {
		return fmt.Errorf("%w: %s is missing", ErrWeights, name)
	}
	if !slices.Equal(t.dims, dims) {
		return fmt.Errorf("%w: %s is %v, want %v", ErrWeights, name, t.dims, dims)
	}
	if t.dtype == 0 {
		return fmt.Errorf("%w: %s has numbers of type %.20q, want F32, F16 or BF16", ErrSafetensors, name, t.named)
	}
	if err := decodeBlocks(dst, t.dtype, io.NewSectionReader(s.r, t.from, t.to-t.from)); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrSafetensors, name, err)
	}
	return nil
}
