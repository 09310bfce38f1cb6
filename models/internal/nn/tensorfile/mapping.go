package tensorfile

import (
	"fmt"
	"hash/crc32"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Mapped returns every tensor as a part of data: all bytes of the file, as Map returns
// them. Nothing is copied where the processor orders bytes as the file does, so the
// results must not be changed, and are valid as long as data. Mapped verifies the
// checksums, on all processors at the same time. The error wraps ErrFile.
func (f *File[S]) Mapped(data []byte) (map[string][]float32, error) {
	tensors := f.header.Tensors
	parts, faults := make([][]float32, len(tensors)), make([]error, len(tensors))
	var next atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(tensors); i = int(next.Add(1)) - 1 {
				parts[i], faults[i] = f.mapped(data, tensors[i].Name)
			}
		})
	}
	group.Wait()
	all := map[string][]float32{}
	for i, t := range tensors {
		if faults[i] != nil {
			return nil, faults[i]
		}
		all[t.Name] = parts[i]
	}
	return all, nil
}

// mapped returns one tensor.
func (f *File[S]) mapped(data []byte, name string) ([]float32, error) {
	t := f.tensors[name]
	n := int64(count(t.Dims))
	if t.at+4*n > int64(len(data)) {
		return nil, fmt.Errorf("%w: %s reaches beyond the end", ErrFile, name)
	}
	b := data[t.at:][:4*n]
	if crc32.Checksum(b, castagnoli) != t.CRC {
		return nil, fmt.Errorf("%w: %s: the checksum is wrong", ErrFile, name)
	}
	return floats(b), nil
}

// littleEndian is whether this processor stores the lowest byte of a number first.
var littleEndian = *(*byte)(unsafe.Pointer(&[1]uint16{1})) == 1

// floats returns the numbers whose bytes are b, in the memory of b where that is
// possible.
func floats(b []byte) []float32 {
	if len(b) == 0 {
		return nil
	}
	first := unsafe.Pointer(unsafe.SliceData(b))
	if littleEndian && uintptr(first)%unsafe.Alignof(float32(0)) == 0 {
		return unsafe.Slice((*float32)(first), len(b)/4)
	}
	x := make([]float32, len(b)/4) // of bytes that are there
	float32s.decode(x, b)
	return x
}
