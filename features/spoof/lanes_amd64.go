package spoof

// The loops of lanes_loops.go. A number of elements n counts four lanes as one and is at
// least 1.

//go:noescape
func laneLoadAVX2(dst, a, b, c, d, window *float64, n int)

// laneUnloadAVX2 takes a multiple of 4 elements.
//
//go:noescape
func laneUnloadAVX2(a, b, c, d, x *float64, n int)

//go:noescape
func laneStageAVX2(z, w *float64, q, blocks int)

//go:noescape
func laneLast4AVX2(z *float64, blocks int)

//go:noescape
func laneLast2AVX2(z *float64, blocks int)

// The separations take n bins. low is the first of them, high the bin h−k of the first.

//go:noescape
func lanePowerAVX2(low, high, z *float64, bins *laneBin, n int)

//go:noescape
func laneCoefficientsAVX2(low, high, z *float64, bins *laneBin, n int)

//go:noescape
func laneSumAVX2(sum *[laneCount]float64, x *float64, n int)

//go:noescape
func laneDotAVX2(sum *[laneCount]float64, x, w *float64, n int)

//go:noescape
func laneTaperAVX2(y, x, taper *float64, mean *[laneCount]float64, n int)

//go:noescape
func laneSquaresAVX2(sum *[laneCount]float64, x *float64, n int)

//go:noescape
func laneChangeAVX2(sum *[laneCount]float64, x, before *float64, n int)

//go:noescape
func laneHighestAVX2(top *[laneCount]float64, x *float64, n int)

// laneUnfoldAVX2 takes n pairs of x.
//
//go:noescape
func laneUnfoldAVX2(x, y, factors *float64, odd *[laneCount]float64, n int)

// laneFoldAVX2 takes n pairs. The first is at low and high, in y and in x.
//
//go:noescape
func laneFoldAVX2(yLow, yHigh, xLow, xHigh, factors *float64, sum *[laneCount]float64, n int)
