package gemm

// Kernels returns the kernels that this processor supports, the fastest last.
func Kernels() []Kernel { return []Kernel{Go, NEON} }

// tile computes a tile: c = a·b (+ bias) (+ c) over k products; a nil bias means
// zeros. The size of the kernel determines the lengths of the slices.
func (kernel Kernel) tile(k int, a []float32, lda int, b []float32, _ int, c []float32, ldc int, bias []float32, add bool) {
	switch kernel {
	case NEON:
		tile6x16NEON(k, at(a), lda, at(b), at(c), ldc, at(bias), add)
	case GoPairs:
		tilePairsGo(k, a, lda, b, c, ldc, bias, add)
	default:
		tileGo(k, a, lda, b, c, ldc, bias, add)
	}
}

// tile6x16NEON does the work of tileGo on six rows; strides are in numbers.
//
//go:noescape
func tile6x16NEON(k int, a *float32, lda int, b, c *float32, ldc int, bias *float32, add bool)
