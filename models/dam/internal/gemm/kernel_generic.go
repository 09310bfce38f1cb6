//go:build !amd64 && !arm64

package gemm

// Kernels lists the kernels that this processor has.
func Kernels() []Kernel { return []Kernel{Go} }

// PairKernels lists the same for matrices of pairs.
func PairKernels() []Kernel { return []Kernel{GoPairs} }

func (kernel Kernel) tile(k int, a []float32, lda int, b []float32, _ int, c []float32, ldc int, bias []float32, add bool) {
	if kernel == GoPairs {
		tilePairsGo(k, a, lda, b, c, ldc, bias, add)
	} else {
		tileGo(k, a, lda, b, c, ldc, bias, add)
	}
}

// spin has no measure of the peak here.
func (kernel Kernel) spin(int) int { return 0 }

// transpose8 leaves all columns to transposeGo.
func transpose8(_, _ []float32, _, _ int) int { return 0 }

// pairVector leaves all to Pair.
func pairVector(_, _ []float32) int { return 0 }
