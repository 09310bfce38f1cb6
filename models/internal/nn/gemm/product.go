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
	A       []float32 // [Rows × B.Rows()]; rows may overlap. Not used if B has quads
	StrideA int
	Left    *Rows // the rows of A if B has quads
	Rows    int
	B       *Matrix
	Bias    []float32 // of B.Cols() numbers, or nil
	Add     bool      // add to C instead of overwriting it
	After   After     // nil for none
	Kernel  Kernel    // 0 means the fastest for B. Not used if B has quads: Left has its own
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

	// Of a tile of quads.
	scales [maxRows]float32
	sums   [maxRows]int32
}

// Blocks returns the number of blocks of C. It panics if an array is too short.
func (p *Product) Blocks() int {
	checkArray("C", p.C, p.Rows, p.B.cols, p.StrideC)
	if p.B.form == quadsForm {
		if p.Left.rows != p.Rows || p.Left.cols != p.B.inner {
			panic(fmt.Sprintf("gemm: A is %d × %d, want %d × %d", p.Left.rows, p.Left.cols, p.Rows, p.B.inner))
		}
	} else {
		checkArray("A", p.A, p.Rows, p.B.rows, p.StrideA)
	}
	if p.Bias != nil && len(p.Bias) != p.B.cols {
		panic(fmt.Sprintf("gemm: bias of %d for %d columns", len(p.Bias), p.B.cols))
	}
	down, across, _ := p.divide()
	return down * across
}

func ceil(n, d int) int { return (n + d - 1) / d }

// divide returns how many blocks are below and beside each other, and the rows of all but
// the last ones. Blocks are of nearly equal size, and an even number unless C is small, so
// that two goroutines end at nearly the same time: with 600 × 768 numbers on two of them,
// 97 % of the time of a product is that of both, and with blocks of 252 rows 93 %.
func (p *Product) divide() (down, across, rows int) {
	down, across = ceil(p.Rows, blockRows), ceil(p.B.cols, blockCols)
	if p.Rows > 4*maxRows && down%2 != 0 && across%2 != 0 {
		down++
	}
	rows = ceil(ceil(p.Rows, max(1, down)), maxRows) * maxRows
	return ceil(p.Rows, max(1, rows)), across, rows
}

// Block computes block i of C, 0 ≤ i < Blocks. Blocks of one product may be
// computed at the same time, each with its own scratch.
func (p *Product) Block(i int, s *Scratch) {
	_, across, rows := p.divide()
	m0, n0 := i/across*rows, i%across*blockCols
	m1, n1 := min(m0+rows, p.Rows), min(n0+blockCols, p.B.cols)
	_, width := p.kernel().size()
	for k0 := 0; k0 < max(1, p.B.rows); k0 += depth {
		for n := n0; n < n1; n += width {
			kernel := p.kernel().strip(n1 - n)
			height, width := kernel.size()
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
	case p.B.form == quadsForm:
		return p.Left.kernel
	case p.Kernel != 0:
		return p.Kernel
	case p.B.form == pairsForm:
		return bestPairs
	}
	return best
}

// left returns the rows of A and the distance between two of them.
func (p *Product) left() ([]float32, int) {
	if p.B.form == quadsForm {
		return p.Left.data, p.Left.stride
	}
	return p.A, p.StrideA
}

// scaling returns that of the tile at m, n for the part of the inner sum from k0 on.
func (p *Product) scaling(m, n, k0 int) scaling {
	r := p.Left
	return scaling{r.sums[k0/depth*r.rows+m:], r.scales[m:], p.B.scales[n:]}
}

// tile adds the products of depth numbers from k0 to a whole tile.
func (p *Product) tile(kernel Kernel, m, n, k0 int) {
	k := min(depth, p.B.rows-k0)
	var bias []float32
	if k0 == 0 && p.Bias != nil {
		bias = p.Bias[n:]
	}
	a, stride := p.left()
	a, b, c := a[m*stride+k0*kernel.words():], p.B.data[n*p.B.rows+k0*panel:], p.C[m*p.StrideC+n:]
	if p.B.form == quadsForm {
		kernel.tileQuads(k, a, stride, b, p.B.rows*panel, c, p.StrideC, bias, p.Add || k0 > 0, p.scaling(m, n, k0))
		return
	}
	kernel.tile(k, a, stride, b, p.B.rows*panel, c, p.StrideC, bias, p.Add || k0 > 0)
}

// edge does the work of tile for a tile of which only rows × cols are in C. It
// computes the whole tile in s, with zeros in the missing rows.
func (p *Product) edge(kernel Kernel, m, n, rows, cols, k0 int, s *Scratch) {
	k := min(depth, p.B.rows-k0)
	a, stride := p.left()
	words := kernel.words()
	for r := range rows {
		copy(s.a[r*words*depth:][:words*k], a[(m+r)*stride+k0*words:])
	}
	height, width := kernel.size()
	for r := rows; r < height; r++ {
		clear(s.a[r*words*depth:][:words*k])
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
	b := p.B.data[n*p.B.rows+k0*panel:]
	if p.B.form == quadsForm {
		q := p.scaling(m, n, k0)
		copy(s.scales[:rows], q.rows)
		copy(s.sums[:rows], q.sums)
		q.rows, q.sums = s.scales[:], s.sums[:] // of the missing rows anything: they are not copied to C
		kernel.tileQuads(k, s.a[:], words*depth, b, p.B.rows*panel, s.c[:], width, bias, add, q)
	} else {
		kernel.tile(k, s.a[:], depth, b, p.B.rows*panel, s.c[:], width, bias, add)
	}
	for r := range rows {
		copy(p.C[(m+r)*p.StrideC+n:][:cols], s.c[r*width:])
	}
}
