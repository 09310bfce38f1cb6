package gemm

import (
	"testing"

	"github.com/voicescreen/voicescreen/models/internal/nn/guard"
)

// TestTilesStayWithin ends every array where the next byte would be a fault.
func TestTilesStayWithin(t *testing.T) {
	for _, kernel := range append(Kernels(), PairKernels()...) {
		for _, size := range [][3]int{{1, 1, 1}, {12, 4, 32}, {13, 5, 33}, {6, 3, 16}, {25, depth + 2, 64}, {11, 2, 47}} {
			m, k, n := size[0], size[1], size[2]
			weight := guard.Floats(t, n*k)
			rows := k
			b := Matrix{data: guard.Floats(t, ceil(n, 2*panel)*2*panel*k)}
			if kernel == GoPairs || kernel == BF16 {
				rows = (k + 1) / 2
				b.data = guard.Floats(t, ceil(n, 2*panel)*2*panel*rows)
				b.PackPairs(weight, k, n, k)
			} else {
				b.PackTransposed(weight, k, n, k)
			}
			p := &Product{
				C: guard.Floats(t, m*n), StrideC: n, A: guard.Floats(t, m*rows), StrideA: rows,
				Rows: m, B: &b, Bias: guard.Floats(t, n), Add: true, Kernel: kernel,
			}
			p.run()
		}
	}
	for _, kernel := range QuadKernels() {
		for _, size := range [][3]int{{1, 1, 1}, {12, 4, 32}, {13, 17, 33}, {6, 32, 16}, {25, 4*depth + 5, 64}, {11, 2, 47}} {
			m, k, n := size[0], size[1], size[2]
			var packed, b Matrix
			packed.PackQuads(guard.Floats(t, n*k), k, n, k)
			b.SetPackedQuads(append(guard.Floats(t, PackedQuadsLen(k, n))[:0], packed.Packed()...), k, n)
			b.data = append(guard.Floats(t, len(b.data))[:0], b.data...) // the scales follow it otherwise
			left := Rows{data: guard.Floats(t, m*ceil(k, quadSize)*kernel.words()), scales: guard.Floats(t, m), shift: guard.Floats(t, k)}
			left.Reset(m, k, kernel)
			left.Center(guard.Floats(t, m*k), k, new(Rows))
			left.Quantize(guard.Floats(t, m*k), k, 0, m)
			p := &Product{C: guard.Floats(t, m*n), StrideC: n, Left: &left, Rows: m, B: &b, Bias: guard.Floats(t, n), Add: true}
			p.run()
		}
	}
	for n := 1; n < 140; n++ {
		x := guard.Floats(t, n)
		Pair(guard.Floats(t, (n+1)/2), x)
		var b Matrix
		b.Pack(x, 1, n, n)
	}
}
