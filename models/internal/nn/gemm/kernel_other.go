//go:build !amd64

package gemm

// PairKernels returns the kernels for matrices of pairs, the fastest last.
func PairKernels() []Kernel { return []Kernel{GoPairs} }

// QuadKernels returns the kernels for matrices of quads, the fastest last.
func QuadKernels() []Kernel { return []Kernel{GoQuads} }

// tileQuads computes a tile of quads.
func (kernel Kernel) tileQuads(k int, a []float32, lda int, b []float32, _ int, c []float32, ldc int, bias []float32, add bool, q scaling) {
	tileQuadsGo(k, a, lda, b, c, ldc, bias, add, q)
}

// magnitudeVector leaves all numbers to scaleOf.
func magnitudeVector(_, _ []float32) (n int, top uint32) { return 0, 0 }

// quantizeVector leaves all numbers to quantize.
func quantizeVector(_, _, _ []float32, _ float32, _ int) (n int, sum int32) { return 0, 0 }

// addVector leaves all numbers to add.
func addVector(_, _ []float32) int { return 0 }

// transpose8 leaves all columns to transposeGo.
func transpose8(_, _ []float32, _, _ int) int { return 0 }

// pairVector leaves all numbers to Pair.
func pairVector(_, _ []float32) int { return 0 }
