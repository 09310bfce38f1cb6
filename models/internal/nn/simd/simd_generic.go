//go:build !amd64 && !arm64

package simd

// level is the kind of registers in use: none on these processors.
type level uint8

const scalar level = 0

var use = highest()

func highest() level { return scalar }

func vectorLength([]float32) int                         { return 0 }
func vectorGELU([]float32)                               {}
func vectorExpSum(x []float32, _ int, t float32) float32 { return expSumGo(x, t) }
func vectorMaximum(x []float32) float32                  { return maximum(x) }
func vectorSum(x []float32) float32                      { return Sum(x) }
func vectorSquares(x []float32, c float32) float32       { return squares(x, c) }
func vectorNormalize(_, _, _, _ []float32, _, _ float32) {}
func vectorScale([]float32, float32)                     {}
