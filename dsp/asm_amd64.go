package dsp

import "golang.org/x/sys/cpu"

// hasAVX is whether the processor and the operating system support the registers that
// the functions in the assembly files use.
var hasAVX = cpu.X86.HasAVX

// hasAVX2 is whether they also support integers in these registers.
var hasAVX2 = cpu.X86.HasAVX && cpu.X86.HasAVX2

// The passes. Each computes the same as the function of its name without AVX. The
// number of points m or s is even and at least 2. The first pass computes n butterflies,
// an even number, from those of y, x and w on.

//go:noescape
func firstStageAVX(y *complex128, x *float64, w *complex128, m, n int)

// firstStageHalfAVX is firstStageAVX where the third and the fourth quarter of x are 0.
//
//go:noescape
func firstStageHalfAVX(y *complex128, x *float64, w *complex128, m, n int)

//go:noescape
func middleStageAVX(y, x, w *complex128, m, s int)

//go:noescape
func lastStage4AVX(y, x *complex128, s int)

//go:noescape
func lastStage2AVX(y, x *complex128, s int)

// The separations take bins k to k+n−1 from z = &Z[k], zh = &Z[h−k−i] and w = the factor
// of bin k. hi is where bin h−k−i goes. i is 3 and n a multiple of 4 for powers, and i is 1
// and n even for coefficients and sequences.

//go:noescape
func powerLowAVX(dst *float64, z, zh, w *complex128, n int)

//go:noescape
func powerPairsAVX(dst, hi *float64, z, zh, w *complex128, n int)

//go:noescape
func coefficientPairsAVX(dst, hi, z, zh, w *complex128, n int)

//go:noescape
func sequencePairsAVX(dst, hi *float64, c, ch, w *complex128, scale float64, n int)

// conjugateAVX writes the conjugates of n numbers, a multiple of 4.
//
//go:noescape
func conjugateAVX(dst *float64, z *complex128, n int)

// interpolateAVX computes n ≥ 1 outputs of the second step of a [Resampler],
// taps a multiple of 4, the first from the samples at z on.
//
//go:noescape
func interpolateAVX(dst, z, table *float64, taps, n, phase, den, step, turn int)

// The loops over a frame. n is a multiple of 4, at least 4.

// emphasizeAVX reads x[-1] too.
//
//go:noescape
func emphasizeAVX(dst, x, w *float64, a, c float64, n int)

//go:noescape
func fluxAVX(p, before *float64, scale float64, n int) float64

// covarianceAVX does the work of covarianceGo for n ≥ 1 samples from x on, which
// has lpcHistory samples before it.
//
//go:noescape
func covarianceAVX(phi, x, w *float64, n int)

// splitAVX takes apart n pairs of samples, a multiple of 4.
//
//go:noescape
func splitAVX(even, odd, x *float64, n int)

// halveAVX does the work of halve4 and halve12, whose samples splitAVX took
// apart, for n outputs, a multiple of 4; taps is 4 or 12.
//
//go:noescape
func halveAVX(dst, even, odd, h *float64, taps, n int)

// weighAVX does the work of weighGo for n weights, a multiple of 4.
//
//go:noescape
func weighAVX(w, e2, gauss, ste *float64, scale float64, n int)

// The loops of vector.go. n is a multiple of 8 for the sums, at least 1 for the
// correlations, which compute 32, 16 and 8 outputs, and else a multiple of 4; it is
// never 0.

//go:noescape
func dotAVX(x, y *float64, n int) float64

//go:noescape
func dots3AVX(s *[3]float64, x, y0, y1, y2 *float64, n int)

//go:noescape
func dots5AVX(s *[5]float64, x, y0, y1, y2, y3, y4 *float64, n int)

//go:noescape
func totalAVX(x *float64, n int) float64

//go:noescape
func correlate32AVX(dst, a, b *float64, n int)

//go:noescape
func correlate16AVX(dst, a, b *float64, n int)

//go:noescape
func correlate8AVX(dst, a, b *float64, n int)

//go:noescape
func shiftAVX(dst, x *float64, c float64, n int)

//go:noescape
func productAVX(dst, x, y *float64, n int)

//go:noescape
func accumulateAVX(dst, x *float64, n int)

//go:noescape
func quarterAVX(dst, x, taps *float64, mean float64, n int)

// The loops of sums.go. n is a multiple of 4 or, where the Go function counts in eights,
// of 8, and never 0.

//go:noescape
func momentsAVX(s *[8]float64, p *float64, n int)

//go:noescape
func centralSumsAVX(s *[12]float64, x *float64, mean float64, n int)

//go:noescape
func powersAVX(s *[16]float64, x *float64, offset float64, n int)

// surveyAVX continues four sums, the lowest and the highest values.
//
//go:noescape
func surveyAVX(s *[12]float64, x *float64, n int)

//go:noescape
func insideAVX(x *float64, lo, hi float64, n int) int

//go:noescape
func centreAVX(x, y, q, part, w *float64, mean float64, n int)

//go:noescape
func taperAVX(dst, x, w *float64, c float64, n int)

//go:noescape
func raiseAVX(x *float64, floor float64, n int)

//go:noescape
func highestAVX(x *float64, mask uint64, n int) float64

//go:noescape
func widenAVX(dst *complex128, x *float64, n int)

//go:noescape
func orderAVX(lo, hi *float64, n int)

//go:noescape
func cbrtsAVX2(x *float64, c *[12]float64, n int)

//go:noescape
func logsAVX2(dst, x *float64, c *[16]float64, n int)

// trianglesAVX computes n ≥ 1 sums of a [filterBank] from the bins at p on; bins has
// n+1 numbers, and w as many pairs as they count.
//
//go:noescape
func trianglesAVX(dst, p, w *float64, bins *int, n int)

// combineAVX computes eight rows of a product with n ≥ 1 columns, which lie rows apart.
//
//go:noescape
func combineAVX(dst, a, x *float64, rows, n int)
