package lanes

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX && cpu.X86.HasAVX2

// The loops of loops.go. A number of elements n counts four lanes as one and is at
// least 1.

//go:noescape
func loadAVX2(dst, a, b, c, d, window *float64, n int)

// unloadAVX2 takes a multiple of 4 elements.
//
//go:noescape
func unloadAVX2(a, b, c, d, x *float64, n int)

//go:noescape
func stageAVX2(z, w *float64, q, blocks int)

//go:noescape
func last4AVX2(z *float64, blocks int)

//go:noescape
func last2AVX2(z *float64, blocks int)

// The separations take n bins. low is the first of them, high the bin h−k of the first.

//go:noescape
func powersAVX2(low, high, z *float64, bins *bin, n int)

//go:noescape
func coefficientsAVX2(low, high, z *float64, bins *bin, n int)

//go:noescape
func sumAVX2(sum *[Count]float64, x *float64, n int)

//go:noescape
func taperAVX2(y, x, taper *float64, mean *[Count]float64, n int)

//go:noescape
func highestAVX2(top *[Count]float64, x *float64, n int)

// unfoldAVX2 takes n pairs of x.
//
//go:noescape
func unfoldAVX2(x, y, factors *float64, odd *[Count]float64, n int)

// foldAVX2 takes n pairs. The first is at low and high, in y and in x.
//
//go:noescape
func foldAVX2(yLow, yHigh, xLow, xHigh, factors *float64, sum *[Count]float64, n int)
