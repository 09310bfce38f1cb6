// Package pcm converts 16-bit samples to numbers and back. Every recording goes through
// it several times, so on amd64 processors with AVX2 the loops run in assembly, which
// gives the same values.
package pcm

import (
	"encoding/binary"
	"unsafe"
)

// step is the value of one unit of a 16-bit sample.
const step = 1. / (1 << 15)

// Decode computes dst[i] from the i-th little-endian 16-bit sample of src, over 2¹⁵. src
// must have at least twice as many bytes as dst has numbers.
func Decode(dst []float64, src []byte) {
	src = src[:2*len(dst)]
	i := 0
	if n := len(dst) &^ 7; hasAVX2 && n > 0 {
		decodeAVX2(&dst[0], &src[0], n)
		i = n
	}
	for ; i < len(dst); i++ {
		dst[i] = float64(int16(binary.LittleEndian.Uint16(src[2*i:]))) * step
	}
}

// Floats computes dst[i] = x[i]/2¹⁵. dst must be as long as x.
func Floats(dst []float64, x []int16) {
	dst = dst[:len(x)]
	i := 0
	if n := len(x) &^ 7; hasAVX2 && n > 0 {
		decodeAVX2(&dst[0], (*byte)(unsafe.Pointer(&x[0])), n) // amd64 is little-endian
		i = n
	}
	for ; i < len(x); i++ {
		dst[i] = float64(x[i]) * step
	}
}

// Shorts computes dst[i] = 2¹⁵·x[i] and reports whether all of these are 16-bit
// integers. If not, dst is undefined. dst must be as long as x.
func Shorts(dst []int16, x []float64) bool {
	dst = dst[:len(x)]
	i := 0
	if n := len(x) &^ 3; hasAVX2 && n > 0 {
		if !encodeAVX2(&dst[0], &x[0], n) {
			return false
		}
		i = n
	}
	for ; i < len(x); i++ {
		v := x[i] * (1 << 15)
		n := int32(v)
		if float64(n) != v || n != int32(int16(n)) {
			return false
		}
		dst[i] = int16(n)
	}
	return true
}
