package gemm

import "unsafe"

// Kernel is a way to compute a tile of C.
type Kernel uint8

const (
	Go      Kernel = 1 + iota // pure Go, tiles of 4 × 16
	FMA                       // AVX2 and FMA, tiles of 6 × 16
	AVX512                    // AVX-512, tiles of 12 × 32
	NEON                      // arm64, tiles of 6 × 16
	GoPairs                   // pairs of bfloat16 in pure Go, tiles of 4 × 16
	BF16                      // pairs of bfloat16 in AVX512_BF16, tiles of 12 × 32
	GoQuads                   // quads of integers in pure Go, tiles of 4 × 16
	MADD                      // quads in AVX2, tiles of 6 × 16
	VNNI                      // quads in AVX512_VNNI, tiles of 12 × 32
)

// maxRows is the height of the highest tile.
const maxRows = 12

// goRows is the height of the tiles in pure Go.
const goRows = 4

func (k Kernel) String() string {
	switch k {
	case Go:
		return "Go"
	case FMA:
		return "FMA"
	case AVX512:
		return "AVX-512"
	case NEON:
		return "NEON"
	case GoPairs:
		return "Go pairs"
	case BF16:
		return "BF16"
	case GoQuads:
		return "Go quads"
	case MADD:
		return "MADD"
	case VNNI:
		return "VNNI"
	}
	return "none"
}

// best, bestPairs and bestQuads are the fastest kernels of this processor.
var best, bestPairs, bestQuads = last(Kernels()), last(PairKernels()), last(QuadKernels())

func last(k []Kernel) Kernel { return k[len(k)-1] }

// size returns the rows and columns of the kernel's tiles.
func (k Kernel) size() (rows, cols int) {
	switch k {
	case AVX512, BF16, VNNI:
		return 12, 2 * panel
	case FMA, NEON, MADD:
		return 6, panel
	}
	return goRows, panel
}

// strip returns the kernel for so many last columns: one whose tiles are not twice as
// wide. It sums in the same order, so that the bits are the same.
func (k Kernel) strip(cols int) Kernel {
	if k == AVX512 && cols <= panel {
		return FMA
	}
	return k
}

// words returns how many words of a row of A go with a word of a column of B.
func (k Kernel) words() int {
	if k == GoQuads || k == MADD {
		return 2
	}
	return 1
}

// at returns a pointer to the first number of x, nil for a nil slice.
func at(x []float32) *float32 { return unsafe.SliceData(x) }

// tileGo computes a tile of 4 × 16: c = a·b (+ bias) (+ c), a with rows lda
// apart, b one panel, c with rows ldc apart.
func tileGo(k int, a []float32, lda int, b, c []float32, ldc int, bias []float32, add bool) {
	var sum [goRows * panel]float32
	a0, a1, a2, a3 := a[:k], a[lda:lda+k], a[2*lda:2*lda+k], a[3*lda:3*lda+k]
	for j := 0; j < panel; j += 2 {
		var s00, s01, s10, s11, s20, s21, s30, s31 float32
		for i, x0 := range a0 {
			x1, x2, x3 := a1[i], a2[i], a3[i]
			y := b[i*panel+j:][:2:2]
			y0, y1 := y[0], y[1]
			s00 += x0 * y0
			s01 += x0 * y1
			s10 += x1 * y0
			s11 += x1 * y1
			s20 += x2 * y0
			s21 += x2 * y1
			s30 += x3 * y0
			s31 += x3 * y1
		}
		sum[j], sum[j+1] = s00, s01
		sum[panel+j], sum[panel+j+1] = s10, s11
		sum[2*panel+j], sum[2*panel+j+1] = s20, s21
		sum[3*panel+j], sum[3*panel+j+1] = s30, s31
	}
	putGo(&sum, c, ldc, bias, add)
}

// putGo writes the sums of a tile: c = sum (+ bias) (+ c).
func putGo(sum *[goRows * panel]float32, c []float32, ldc int, bias []float32, add bool) {
	for i := range goRows {
		row := c[i*ldc:][:panel]
		for j := range row {
			s := sum[i*panel+j]
			if bias != nil {
				s += bias[j]
			}
			if add {
				s += row[j]
			}
			row[j] = s
		}
	}
}
