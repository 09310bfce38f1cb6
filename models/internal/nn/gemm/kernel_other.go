//go:build !amd64

package gemm

// PairKernels returns the kernels for matrices of pairs, the fastest last.
func PairKernels() []Kernel { return []Kernel{GoPairs} }

// transpose8 leaves all columns to transposeGo.
func transpose8(_, _ []float32, _, _ int) int { return 0 }

// pairVector leaves all numbers to Pair.
func pairVector(_, _ []float32) int { return 0 }
