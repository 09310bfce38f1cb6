package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkProduct prints for each kernel, on one core, the rate of the shapes
// of a layer of the encoder, in the fastest run, and for float32 and pairs its ratio to the
// peak of the kernel's instructions, which is measured just before. Quads are counted as
// the floating-point operations that they replace.
func BenchmarkProduct(b *testing.B) {
	for _, kernel := range slices.Concat(Kernels(), PairKernels(), QuadKernels()) {
		sizes := [][3]int{{1500, 64, 1500}, {1500, 1500, 64}, {1500, 768, 768}, {1500, 768, 3072}, {1500, 3072, 768}}
		if strings.HasPrefix(kernel.String(), "Go") { // these take seconds for one product of the others
			sizes = sizes[:2]
		}
		for _, size := range sizes {
			m, k, n := size[0], size[1], size[2]
			b.Run(fmt.Sprintf("%v/%dx%dx%d", kernel, m, k, n), func(b *testing.B) {
				r := rand.New(rand.NewPCG(8, 5))
				var matrix Matrix
				a := random(r, m*k)
				p := &Product{C: make([]float32, m*n), StrideC: n, A: a, Rows: m, B: &matrix, Kernel: kernel}
				switch {
				case slices.Contains(QuadKernels(), kernel):
					matrix.PackQuads(random(r, k*n), k, n, k)
					p.Kernel, p.Left = 0, new(Rows)
					p.Left.Reset(m, k, kernel)
				case slices.Contains(PairKernels(), kernel):
					matrix.PackPairs(random(r, k*n), k, n, k)
					Pair(a[:len(a)/2], a)
				default:
					matrix.PackTransposed(random(r, k*n), k, n, k)
				}
				p.StrideA = matrix.Rows()
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				peak := kernel.peak()
				fastest := math.Inf(1)
				for b.Loop() {
					start := time.Now()
					if p.Left != nil { // which is part of the work
						p.Left.Quantize(a, k, 0, m)
					}
					p.run()
					fastest = min(fastest, time.Since(start).Seconds())
				}
				rate := 2 * float64(m) * float64(k) * float64(n) / fastest / 1e9
				b.ReportMetric(rate, "GFLOP/s")
				if peak > 0 {
					b.ReportMetric(peak, "GFLOP/s-peak")
					b.ReportMetric(rate/peak, "of-peak")
				}
			})
		}
	}
}

// peak measures 1e9 floating-point operations per second of independent
// multiplications in registers, the best of 50 short runs.
func (kernel Kernel) peak() float64 {
	best := 0.0
	for range 50 {
		const turns = 1 << 18
		start := time.Now()
		n := kernel.spin(turns)
		best = max(best, float64(n)*turns/time.Since(start).Seconds()/1e9)
	}
	return best
}
