package gemm

import "fmt"

// Sizes of the blocks, in numbers. Measured on a Zen 5 (48 kB and 1 MB of cache)
// with a chunk of the encoder, in seconds of processor time, on a machine under
// other load: 3.2 and 3.3; with 132 rows 3.5 and 3.5; with 128 or 768 columns,
// and with a depth of 192 or 384, from 3.3 to 3.4.
const (
	// depth is the part of the inner sum that a tile computes at a time: two
	// panels of it, 32 kB, stay in the first-level cache.
	depth = 256
	// blockRows is a multiple of the rows of every kernel; blockRows × depth of
	// A, 252 kB, stay in the second-level cache.
	blockRows = 252
	// blockCols gives a product of 1500 × 768 18 blocks for the goroutines.
	blockCols = 256
)

// Product is C = A·B + Bias, or C + A·B + Bias, over arrays whose rows start
// every Stride numbers.
type Product struct {
	C       []float32 // [Rows × B.Cols()]
	StrideC int
	A       []float32 // [Rows × B.Rows()]; rows may overlap
	StrideA int
	Rows    int
	B       *Matrix
	Bias    []float32 // of B.Cols() numbers, or nil
	Add     bool      // add to C instead of overwriting it
	After   After     // nil for none
	Kernel  Kernel    // 0 means the fastest for B
}

// After is called once with each complete part of C, which begins at column n of
// row m.
type After func(part []float32, m, n int)

// Scratch is the memory of one goroutine that computes blocks. The zero value is
// ready for use.
type Scratch struct {
	a    [maxRows * depth]float32
	c    [maxRows * 2 * panel]float32
	bias [2 * panel]float32
}

// Blocks returns the number of blocks of C. It panics if an array is too short.
func (p *Product) Blocks() int {
	checkArray("C", p.C, p.Rows, p.B.cols, p.StrideC)
	checkArray("A", p.A, p.Rows, p.B.rows, p.StrideA)
	if p.Bias != nil && len(p.Bias) != p.B.cols {
		panic(fmt.Sprintf("gemm: bias of %d for %d columns", len(p.Bias), p.B.cols))
	}
	return ceil(p.Rows, blockRows) * ceil(p.B.cols, blockCols)
}

func ceil(n, d int) int { return (n + d - 1) / d }

// Block computes block i of C, 0 ≤ i < Blocks. Blocks of one product may be
// computed at the same time, each with its own scratch.
func (p *Product) Block(i int, s *Scratch) {
	across := ceil(p.B.cols, blockCols)
	m0, n0 := i/across*blockRows, i%across*blockCols
	m1, n1 := min(m0+blockRows, p.Rows), min(n0+blockCols, p.B.cols)
	kernel := p.kernel()
	height, width := kernel.size()
	for k0 := 0; k0 < max(1, p.B.rows); k0 += depth {
		for n := n0; n < n1; n += width {
			for m := m0; m < m1; m += height {
				if m+height <= m1 && n+width <= n1 {
					p.tile(kernel, m, n, k0)
				} else {
					p.edge(kernel, m, n, min(height, m1-m), min(width, n1-n), k0, s)
				}
			}
		}
	}
	if p.After != nil {
		for m := m0; m < m1; m++ {
			p.After(p.C[m*p.StrideC+n0:m*p.StrideC+n1], m, n0)
		}
	}
}

func (p *Product) kernel() Kernel {
	switch {
	case p.Kernel != 0:
		return p.Kernel
	case p.B.paired:
		return bestPairs
	}
	return best
}

// tile adds the products of depth numbers from k0 to a whole tile.
func (p *Product) tile(kernel Kernel, m, n, k0 int) {
	k := min(depth, p.B.rows-k0)
	var bias []float32
	if k0 == 0 && p.Bias != nil {
		bias = p.Bias[n:]
	}
	kernel.tile(k, p.A[m*p.StrideA+k0:], p.StrideA, p.B.data[n*p.B.rows+k0*panel:], p.B.rows*panel,
		p.C[m*p.StrideC+n:], p.StrideC, bias, p.Add || k0 > 0)
}

// edge does the work of tile for a tile of which only rows × cols are in C. It
// computes the whole tile in s, with zeros in the missing rows.
func (p *Product) edge(kernel Kernel, m, n, rows, cols, k0 int, s *Scratch) {
	k := min(depth, p.B.rows-k0)
	for r := range rows {
		copy(s.a[r*depth:r*depth+k], p.A[(m+r)*p.StrideA+k0:])
	}
	height, width := kernel.size()
	for r := rows; r < height; r++ {
		clear(s.a[r*depth : r*depth+k])
	}
	var bias []float32
	if k0 == 0 && p.Bias != nil {
		clear(s.bias[:])
		copy(s.bias[:], p.Bias[n:])
		bias = s.bias[:]
	}
	add := p.Add || k0 > 0
	if add {
		for r := range rows {
			copy(s.c[r*width:r*width+cols], p.C[(m+r)*p.StrideC+n:])
		}
	}
	kernel.tile(k, s.a[:], depth, p.B.data[n*p.B.rows+k0*panel:], p.B.rows*panel, s.c[:], width, bias, add)
	for r := range rows {
		copy(p.C[(m+r)*p.StrideC+n:][:cols], s.c[r*width:])
	}
}
