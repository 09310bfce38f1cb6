package tensorfile

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
)

const (
	// MaxPickle is the size of the longest pickle that is read, in bytes. That of
	// DAM 3.1, of 514 tensors, has about 100,000.
	MaxPickle = 1 << 20

	// maxDirectory is the number of bytes that are read at most to find the
	// files of a checkpoint: up to 64 KiB to find the directory, and the
	// directory, which has some 60,000 bytes for the 516 files of DAM 3.1.
	maxDirectory = 256 << 10
)

// Checkpoint is a state dict in a PyTorch zip file: a dictionary of tensors of
// float32, float16 or bfloat16, alone or under the key model, state_dict or
// model_state_dict of what a training saved. If all names begin with "module.", as those of
// torch.nn.DataParallel, that is left out. Its tensors are read from the file on demand. It is
// safe for concurrent use if the file is.
type Checkpoint struct {
	files   map[string]*zip.File // by their names without the folder
	records map[string]*record
}

// OpenCheckpoint reads the directory and the pickle of a checkpoint of size
// bytes. The tensors stay in r, which must stay open while the checkpoint is in
// use. Errors wrap ErrCheckpoint.
func OpenCheckpoint(r io.ReaderAt, size int64) (*Checkpoint, error) {
	limited := &limitedReaderAt{r: r, left: maxDirectory}
	z, err := zip.NewReader(limited, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	limited.left = math.MaxInt64 // for the files themselves
	c := &Checkpoint{files: map[string]*zip.File{}, records: map[string]*record{}}
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
	pickle, err := c.read("data.pkl", MaxPickle)
	if err != nil {
		return nil, err
	}
	d, err := unpickle(pickle)
	if err != nil {
		return nil, err
	}
	if d, err = stateDict(d); err != nil {
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
func (c *Checkpoint) checkOrder() error {
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
func (c *Checkpoint) read(name string, most int) ([]byte, error) {
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
func (c *Checkpoint) index(d *dict) error {
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

// Names returns the keys of the tensors in alphabetical order. The slice is the
// caller's.
func (c *Checkpoint) Names() []string { return slices.Sorted(maps.Keys(c.records)) }

// Dims returns the dimensions of the tensor of a key, or false if there is none.
// The slice must not be changed.
func (c *Checkpoint) Dims(key string) ([]int, bool) {
	r, ok := c.records[key]
	if !ok {
		return nil, false
	}
	return r.dims, true
}

// Read reads the tensor of a key, which must have the dimensions dims, into dst,
// whose length is their product. It reads the whole file of the storage and verifies
// its checksum. The error wraps ErrWeights if the tensor is missing or has other
// dimensions, otherwise ErrCheckpoint.
func (c *Checkpoint) Read(dst []float32, key string, dims []int) error {
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
	if _, err := io.CopyN(io.Discard, from, int64(r.offset)*int64(r.storage.dtype.size())); err != nil {
		return err
	}
	if err := decodeBlocks(dst, r.storage.dtype, from); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, from) // to the end, where the checksum is
	return err
}
