package tensorfile

import (
	"encoding/binary"
	"io"
	"math"
)

// dtype is the type of the numbers of a tensor in a file.
type dtype uint8

const (
	float32s dtype = iota + 1
	float16s
	bfloat16s
)

// size is the size of a number in bytes.
func (d dtype) size() int {
	if d == float32s {
		return 4
	}
	return 2
}

// readBlock is the number of bytes of a tensor that are read at a time. Chosen.
const readBlock = 64 << 10

// decodeBlocks reads len(dst) numbers from a reader.
func decodeBlocks(dst []float32, d dtype, from io.Reader) error {
	size := d.size()
	block := make([]byte, min(readBlock, len(dst)*size))
	for len(dst) > 0 {
		b := block[:min(len(block), len(dst)*size)]
		if _, err := io.ReadFull(from, b); err != nil {
			return err
		}
		n := len(b) / size
		d.decode(dst[:n], b)
		dst = dst[n:]
	}
	return nil
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
