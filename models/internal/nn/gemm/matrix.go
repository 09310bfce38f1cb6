package gemm

import "fmt"

// panel is the number of columns of a panel of B: a row of it has 64 bytes.
const panel = 16

// Matrix is the right factor B of a product, packed. Products do not change it and
// may share it.
type Matrix struct {
	rows, cols int       // rows of pairs or quads in a matrix of them
	form       form      // of data
	inner      int       // rows of numbers in a matrix of quads
	data       []float32 // panels of 16 columns, rows×16 each, an even number of them
	scales     []float32 // of all columns of the panels in a matrix of quads, in memory after data
}

// form is what the numbers of a packed matrix are.
type form uint8

const (
	numbersForm form = iota // float32
	pairsForm               // pairs of bfloat16
	quadsForm               // quads of integers
)

// Rows returns the number of rows, which is the length of the inner sum; in a
// matrix of pairs or quads, their number.
func (b *Matrix) Rows() int { return b.rows }

// Cols returns the number of columns.
func (b *Matrix) Cols() int { return b.cols }

// PackedLen returns how many numbers a packed matrix of rows × cols has.
func PackedLen(rows, cols int) int { return (cols + 2*panel - 1) / (2 * panel) * 2 * panel * rows }

// Packed returns the packed numbers of b, PackedLen(Rows, Cols) of them or
// PackedQuadsLen(Inner, Cols), which are the same on every processor. The caller must not
// change them.
func (b *Matrix) Packed() []float32 { return b.data[:len(b.data)+len(b.scales)] } // scales follow the quads

// SetPacked makes b the matrix of rows × cols whose packed numbers are x, as Packed
// returns them. It keeps x, which may be memory that cannot be written: b must not be
// packed again. It panics if x has another length than PackedLen.
func (b *Matrix) SetPacked(x []float32, rows, cols int) {
	if n := PackedLen(rows, cols); len(x) != n {
		panic(fmt.Sprintf("gemm: %d packed numbers for %d × %d, want %d", len(x), rows, cols, n))
	}
	*b = Matrix{rows: rows, cols: cols, data: x}
}

// Reset sets the size of b, before its columns are packed; columns of the last
// panels beyond cols are zero. It uses the memory of b again if that is large
// enough.
func (b *Matrix) Reset(rows, cols int) {
	if rows < 0 || cols < 0 {
		panic(fmt.Sprintf("gemm: matrix of %d × %d", rows, cols))
	}
	n := PackedLen(rows, cols)
	if cap(b.data) < n {
		b.data = make([]float32, n)
	}
	*b = Matrix{rows: rows, cols: cols, data: b.data[:n]}
	if cols%(2*panel) != 0 { // only the last panels have columns that Pack does not write
		clear(b.data[n-2*panel*rows:])
	}
}

// Pack makes b the matrix x [rows × cols], whose rows start every stride
// numbers.
func (b *Matrix) Pack(x []float32, rows, cols, stride int) {
	b.Reset(rows, cols)
	checkArray("pack", x, rows, cols, stride)
	for j := 0; j < cols; j += panel {
		dst := b.data[j*rows:]
		n := min(panel, cols-j)
		for k := range rows {
			copy(dst[k*panel:k*panel+n], x[k*stride+j:])
		}
	}
}

// PackTransposed makes b the transpose of x [cols × rows], whose rows start
// every stride numbers: the right factor of a linear layer with weight x
// [outputs × inputs].
func (b *Matrix) PackTransposed(x []float32, rows, cols, stride int) {
	b.Reset(rows, cols)
	checkArray("pack", x, cols, rows, stride)
	for j := 0; j < cols; j += panel {
		b.packPanel(j, x[j*stride:], min(panel, cols-j), stride)
	}
}

// packPanel transposes n ≤ 16 rows of x into the panel of column j.
func (b *Matrix) packPanel(j int, x []float32, n, stride int) {
	dst := b.data[j*b.rows:][:b.rows*panel]
	for c := 0; c < n; c += 8 {
		from := 0
		if n-c >= 8 {
			from = transpose8(dst[c:], x[c*stride:], stride, b.rows)
		}
		transposeGo(dst[c:], x[c*stride:], stride, min(8, n-c), from, b.rows)
	}
}

// transposeGo writes columns from ≤ k < to of n rows of x to dst, one row to every
// sixteenth number. It writes four columns at a time, to places close together.
func transposeGo(dst, x []float32, stride, n, from, to int) {
	for c := range n {
		row := x[c*stride:][:to]
		k := from
		for ; k+4 <= len(row); k += 4 {
			d := dst[k*panel+c:][: 3*panel+1 : 3*panel+1]
			d[0], d[panel], d[2*panel], d[3*panel] = row[k], row[k+1], row[k+2], row[k+3]
		}
		for ; k < len(row); k++ {
			dst[k*panel+c] = row[k]
		}
	}
}

// checkArray panics if x does not hold rows × cols numbers, rows stride apart.
func checkArray(what string, x []float32, rows, cols, stride int) {
	if rows > 0 && cols > 0 && (stride < 0 || len(x) < (rows-1)*stride+cols) {
		panic(fmt.Sprintf("gemm: %s: %d numbers for %d × %d, stride %d", what, len(x), rows, cols, stride))
	}
}
