package gemm

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// Kernels returns the kernels that this processor and its operating system
// support, the fastest last.
func Kernels() []Kernel {
	k := []Kernel{Go}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		k = append(k, FMA)
	}
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		k = append(k, AVX512)
	}
	return k
}

// PairKernels returns the kernels for matrices of pairs, the fastest last.
func PairKernels() []Kernel {
	k := []Kernel{GoPairs}
	if cpu.X86.HasAVX512BF16 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW {
		k = append(k, BF16)
	}
	return k
}

// QuadKernels returns the kernels for matrices of quads, the fastest last. VPMADDUBSW,
// the product of bytes in AVX2, saturates its sums of two, so that MADD widens the bytes
// to 16 bits and uses VPMADDWD.
func QuadKernels() []Kernel {
	k := []Kernel{GoQuads}
	if cpu.X86.HasAVX2 {
		k = append(k, MADD)
	}
	if cpu.X86.HasAVX512VNNI && cpu.X86.HasAVX512F && cpu.X86.HasAVX2 {
		k = append(k, VNNI)
	}
	return k
}

// tile computes a tile: c = a·b (+ bias) (+ c) over k products. The panels of b
// are stride apart; a nil bias means zeros. The size of the kernel determines the
// lengths of the slices.
func (kernel Kernel) tile(k int, a []float32, lda int, b []float32, stride int, c []float32, ldc int, bias []float32, add bool) {
	switch kernel {
	case AVX512:
		tile12x32AVX512(k, at(a), lda, at(b), at(b[min(stride, len(b)):]), at(c), ldc, at(bias), add)
	case FMA:
		tile6x16FMA(k, at(a), lda, at(b), at(c), ldc, at(bias), add)
	case BF16:
		tile12x32BF16(k, at(a), lda, at(b), at(b[min(stride, len(b)):]), at(c), ldc, at(bias), add)
	case GoPairs:
		tilePairsGo(k, a, lda, b, c, ldc, bias, add)
	default:
		tileGo(k, a, lda, b, c, ldc, bias, add)
	}
}

// tileQuads computes a tile of quads: c = a·b (+ bias) (+ c).
func (kernel Kernel) tileQuads(k int, a []float32, lda int, b []float32, stride int, c []float32, ldc int, bias []float32, add bool, q scaling) {
	sums := unsafe.SliceData(q.sums)
	switch kernel {
	case VNNI:
		tile12x32VNNI(k, at(a), lda, at(b), at(b[min(stride, len(b)):]), at(c), ldc, at(bias), add, sums, at(q.rows), at(q.cols))
	case MADD:
		tile6x16MADD(k, at(a), lda, at(b), at(c), ldc, at(bias), add, sums, at(q.rows), at(q.cols))
	default:
		tileQuadsGo(k, a, lda, b, c, ldc, bias, add, q)
	}
}

// These functions do the work of tileQuadsGo on tiles of the size in the name. b0 and b1
// are two panels; strides are in words.
//
//go:noescape
func tile12x32VNNI(k int, a *float32, lda int, b0, b1, c *float32, ldc int, bias *float32, add bool, sums *int32, rows, cols *float32)

//go:noescape
func tile6x16MADD(k int, a *float32, lda int, b, c *float32, ldc int, bias *float32, add bool, sums *int32, rows, cols *float32)

// These functions do the work of tileGo and tilePairsGo on tiles of the size in
// the name. b0 and b1 are two panels; strides are in numbers.
//
//go:noescape
func tile12x32AVX512(k int, a *float32, lda int, b0, b1, c *float32, ldc int, bias *float32, add bool)

//go:noescape
func tile12x32BF16(k int, a *float32, lda int, b0, b1, c *float32, ldc int, bias *float32, add bool)

//go:noescape
func tile6x16FMA(k int, a *float32, lda int, b, c *float32, ldc int, bias *float32, add bool)

// transpose8 does the work of transposeGo for eight rows and the first columns,
// and returns the number of columns.
func transpose8(dst, x []float32, stride, k int) int {
	k &^= 7
	if !cpu.X86.HasAVX || k == 0 {
		return 0
	}
	transposeAVX(at(dst), at(x), stride, k)
	return k
}

// transposeAVX takes n columns, a multiple of 8 and at least 8.
//
//go:noescape
func transposeAVX(dst, x *float32, stride, n int)

// pairVector does the work of Pair for the first numbers of dst and returns their
// count.
func pairVector(dst, x []float32) int {
	n := len(x) / 32 * 16
	if n == 0 || bestPairs != BF16 {
		return 0
	}
	pairAVX512(at(dst), at(x), n)
	return n
}

// pairAVX512 writes n pairs, a multiple of 16 and at least 16.
//
//go:noescape
func pairAVX512(dst, x *float32, n int)

// magnitudeVector returns the largest magnitude, in bits, of the first n numbers of
// x − shift.
func magnitudeVector(x, shift []float32) (n int, top uint32) {
	switch n = len(x) &^ 15; {
	case n == 0 || bestQuads == GoQuads:
		return 0, 0
	case bestQuads == VNNI:
		return n, magnitudeAVX512(at(x), at(shift), n)
	}
	return n, magnitudeAVX2(at(x), at(shift), n)
}

// quantizeVector does the work of quantize for the first n numbers.
func quantizeVector(dst, x, shift []float32, inverse float32, words int) (n int, sum int32) {
	switch n = len(x) &^ 15; {
	case n == 0 || bestQuads == GoQuads:
		return 0, 0
	case words == 2:
		return n, quantizeAVX2(at(dst), at(x), at(shift), n, inverse)
	case bestQuads == VNNI:
		return n, quantizeAVX512(at(dst), at(x), at(shift), n, inverse)
	}
	return 0, 0
}

// addVector does the work of add for the first numbers and returns their count.
func addVector(dst, x []float32) int {
	n := len(x) &^ 15
	if n == 0 || bestQuads == GoQuads {
		return 0
	}
	addAVX2(at(dst), at(x), n)
	return n
}

// These functions take n numbers, a multiple of 16 and at least 16. The functions that
// quantize write bytes (AVX512) or 16-bit integers (AVX2) and return their sum.
//
//go:noescape
func magnitudeAVX512(x, shift *float32, n int) uint32

//go:noescape
func magnitudeAVX2(x, shift *float32, n int) uint32

//go:noescape
func quantizeAVX512(dst, x, shift *float32, n int, inverse float32) int32

//go:noescape
func quantizeAVX2(dst, x, shift *float32, n int, inverse float32) int32

//go:noescape
func addAVX2(dst, x *float32, n int)
