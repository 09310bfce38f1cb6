//go:build !amd64 && !arm64

package gemm

// Kernels returns the kernels that this processor supports, the fastest last.
func Kernels() []Kernel { return []Kernel{Go} }

func (kernel Kernel) tile(k int, a []float32, lda int, b []float32, _ int, c []float32, ldc int, bias []float32, add bool) {
	if kernel == GoPairs {
		tilePairsGo(k, a, lda, b, c, ldc, bias, add)
	} else {
		tileGo(k, a, lda, b, c, ldc, bias, add)
	}
}
