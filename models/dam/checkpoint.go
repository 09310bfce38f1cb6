package dam

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strings"
)

const (
	// maxPickle is the size of the longest pickle that is read, in bytes. The
	// pickle of the published model, of 514 tensors, has about 100,000.
	maxPickle = 1 << 20

	// maxDirectory is the number of bytes that are read at most to find the
	// files of a checkpoint: up to 64 KiB to find the directory, and the
	// directory, which has some 60,000 bytes for the 516 files of the published
	// model.
	maxDirectory = 256 << 10
)

// checkpoint is a state dict in a PyTorch zip file. Its tensors are read from the
// file on demand.
type checkpoint struct {
	files   map[string]*zip.File // by their names without the folder
	records map[string]*record
}

// openCheckpoint reads the directory and the pickle of a checkpoint of size
// bytes. The tensors stay in r, which must stay open while the checkpoint is in
// use. Errors wrap ErrCheckpoint.
func openCheckpoint(r io.ReaderAt, size int64) (*checkpoint, error) {
	limited := &limitedReaderAt{r: r, left: maxDirectory}
	z, err := zip.NewReader(limited, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	limited.left = math.MaxInt64 // for the files themselves
	c := &checkpoint{files: map[string]*zip.File{}, records: map[string]*record{}}
	var folder string
	for _, f := range z.File {
		if dir, ok := strings.CutSuffix(f.Name, "data.pkl"); ok && (dir == "" || strings.Count(dir, "/") == 1 && strings.HasSuffix(dir, "/")) {
			if c.files["data.pkl"] != nil {
				return nil, fmt.Errorf("%w: it holds two pickles", ErrCheckpoint)
			}
			folder, c.files["data.pkl"] = dir, f
		}
	}
	if c.files["data.pkl"] == nil {
		return nil, fmt.Errorf("%w: a zip file without data.pkl", ErrCheckpoint)
	}
	for _, f := range z.File {
		name, ok := strings.CutPrefix(f.Name, folder)
		if !ok || name == "data.pkl" {
			continue
		}
		if c.files[name] != nil {
			return nil, fmt.Errorf("%w: it holds %s twice", ErrCheckpoint, name)
		}
		c.files[name] = f
	}
	if err := c.checkOrder(); err != nil {
		return nil, err
	}
	pickle, err := c.read("data.pkl", maxPickle)
	if err != nil {
		return nil, err
	}
	d, err := unpickle(pickle)
	if err != nil {
		return nil, err
	}
	return c, c.index(d)
}

// limitedReaderAt reads up to left bytes in all; math.MaxInt64 means no limit. It
// is safe for concurrent use only without a limit.
type limitedReaderAt struct {
	r    io.ReaderAt
	left int64
}

// ReadAt implements io.ReaderAt.
func (l *limitedReaderAt) ReadAt(b []byte, at int64) (int, error) {
	if l.left == math.MaxInt64 {
		return l.r.ReadAt(b, at)
	}
	n, err := l.r.ReadAt(b, at)
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("its directory has more than %d bytes", maxDirectory)
	}
	return n, err
}

// checkOrder refuses numbers that are not little-endian.
func (c *checkpoint) checkOrder() error {
	if c.files["byteorder"] == nil { // PyTorch before 2.1 does not write it
		return nil
	}
	order, err := c.read("byteorder", 16)
	if err != nil {
		return err
	}
	if string(order) != "little" {
		return fmt.Errorf("%w: its numbers are not little-endian", ErrCheckpoint)
	}
	return nil
}

// read returns a file of the archive of at most most bytes.
func (c *checkpoint) read(name string, most int) ([]byte, error) {
	f := c.files[name]
	if f.Method != zip.Store {
		return nil, fmt.Errorf("%w: %s is compressed", ErrCheckpoint, name)
	}
	rc, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrCheckpoint, name, err)
	}
	defer rc.Close()
	b, err := io.ReadAll(io.LimitReader(rc, int64(most)+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrCheckpoint, name, err)
	}
	if len(b) > most {
		return nil, fmt.Errorf("%w: %s has more than %d bytes", ErrCheckpoint, name, most)
	}
	return b, nil
}

// index checks every tensor of the state dict against the file that holds it.
func (c *checkpoint) index(d *dict) error {
	for i, k := range d.keys {
		name, ok := k.(string)
		if !ok {
			return fmt.Errorf("%w: %s is the key of a tensor", ErrCheckpoint, kind(k))
		}
		r, ok := d.values[i].(*record)
		if !ok || r == nil {
			return fmt.Errorf("%w: %s is %s, want a tensor", ErrCheckpoint, name, kind(d.values[i]))
		}
		if c.records[name] != nil {
			return fmt.Errorf("%w: %s is there twice", ErrCheckpoint, name)
		}
		f := c.files["data/"+r.storage.key]
		if f == nil {
			return fmt.Errorf("%w: %s: its file is missing", ErrCheckpoint, name)
		}
		if f.Method != zip.Store {
			return fmt.Errorf("%w: %s: its file is compressed", ErrCheckpoint, name)
		}
		if size := uint64(r.storage.count) * uint64(r.storage.dtype.size()); f.UncompressedSize64 != size || f.CompressedSize64 != size {
			return fmt.Errorf("%w: %s: its file has %d bytes, want %d", ErrCheckpoint, name, f.UncompressedSize64, size)
		}
		if err := r.check(); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrCheckpoint, name, err)
		}
		c.records[name] = r
	}
	return nil
}

// check returns an error if the tensor is not a row-major part of its storage.
func (r *record) check() error {
	n := 1
	for i := len(r.dims) - 1; i >= 0; i-- {
		if r.dims[i] > 1 && r.strides[i] != n {
			return fmt.Errorf("strides are %v for sizes %v, want them row by row", r.strides, r.dims)
		}
		hi, lo := bits.Mul64(uint64(n), uint64(r.dims[i]))
		if hi != 0 || lo > math.MaxInt32 {
			return fmt.Errorf("sizes are %v, too many numbers", r.dims)
		}
		n = int(lo)
	}
	if r.offset > r.storage.count || n > r.storage.count-r.offset {
		return errors.New("it reaches beyond its file")
	}
	return nil
}

// readBlock is the number of bytes of a tensor that are read at a time. Chosen.
const readBlock = 64 << 10

// fill reads the tensor of a key, which must have the dimensions dims, into dst.
// It reads the whole file of the storage and verifies its checksum.
func (c *checkpoint) fill(dst []float32, key string, dims []int) error {
	r := c.records[key]
	if r == nil {
		return fmt.Errorf("%w: %s is missing", ErrWeights, key)
	}
	if !slices.Equal(r.dims, dims) {
		return fmt.Errorf("%w: %s is %v, want %v", ErrWeights, key, r.dims, dims)
	}
	rc, err := c.files["data/"+r.storage.key].Open()
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrCheckpoint, key, err)
	}
	defer rc.Close()
	if err := r.decode(dst, rc); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrCheckpoint, key, err)
	}
	return nil
}

func (r *record) decode(dst []float32, from io.Reader) error {
	size := r.storage.dtype.size()
	if _, err := io.CopyN(io.Discard, from, int64(r.offset)*int64(size)); err != nil {
		return err
	}
	block := make([]byte, min(readBlock, len(dst)*size))
	for len(dst) > 0 {
		b := block[:min(len(block), len(dst)*size)]
		if _, err := io.ReadFull(from, b); err != nil {
			return err
		}
		n := len(b) / size
		r.storage.dtype.decode(dst[:n], b)
		dst = dst[n:]
	}
	_, err := io.Copy(io.Discard, from) // to the end, where the checksum is
	return err
}

// decode decodes len(dst) numbers of b.
func (d dtype) decode(dst []float32, b []byte) {
	le := binary.LittleEndian
	switch d {
	case float32s:
		for i := range dst {
			dst[i] = math.Float32frombits(le.Uint32(b[4*i:]))
		}
	case float16s:
		for i := range dst {
			dst[i] = half(le.Uint16(b[2*i:]))
		}
	case bfloat16s:
		for i := range dst {
			dst[i] = math.Float32frombits(uint32(le.Uint16(b[2*i:])) << 16)
		}
	}
}

// half returns the number whose IEEE 754 binary16 bits are h.
func half(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exponent {
	case 0: // zero, or below the least normal number: fraction · 2⁻²⁴
		v := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 0x1f: // infinity, not a number
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
