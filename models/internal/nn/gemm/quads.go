package gemm

import (
	"fmt"
	"math"
)

// A quad is four numbers of one row of A or one column of B, in the order of the inner
// sum and the first in the lowest bits, as integers from −127 to 127 with a common
// scale: one for each row of A and one for each column of B. In B a quad is a word of
// four bytes b + 128, in the 32 bits of a float32, whose value has no meaning. In A it
// is a word of four bytes, or two words of 16-bit integers, as the kernel needs it.
//
// The products of integers and their sums over depth quads are exact:
//
//	c = Σ_parts scaleA·scaleB·(Σ a·(b+128) − 128·Σ a)
//
// 1,024 products of at most 127 · 128 are less than 2²⁴, so that each inner difference
// is a float32 without rounding. All kernels give the same bits.

// quadSize is the numbers of a quad.
const quadSize = 4

// leastQuantized is the least of the largest magnitudes of a row that is not taken for
// zeros. Chosen: below it 127 divided by it would overflow.
const leastQuantized = 1e-30

// Rows is the left factor of a product with a matrix of quads. The zero value is ready
// for Reset.
type Rows struct {
	kernel     Kernel
	rows, cols int       // numbers
	stride     int       // words of a row
	shift      []float32 // what is subtracted from the numbers of each row
	data       []float32 // quads
	scales     []float32 // of rows
	sums       []int32   // 128 times the sum of a row over each depth: [parts, rows]
	residue    []float32 // see rest
}

// Reset sets the number of rows, and of numbers in each, before they are quantized for a
// kernel; 0 means the fastest. Nothing is subtracted from them. It uses the memory of r
// again if that is large enough.
func (r *Rows) Reset(rows, cols int, kernel Kernel) {
	if rows < 0 || cols < 0 {
		panic(fmt.Sprintf("gemm: %d rows of %d numbers", rows, cols))
	}
	if kernel == 0 {
		kernel = bestQuads
	}
	quads := ceil(cols, quadSize)
	r.kernel, r.rows, r.cols, r.stride = kernel, rows, cols, quads*kernel.words()
	r.shift = resize(r.shift, cols)
	clear(r.shift)
	r.data = resize(r.data, rows*r.stride)
	r.scales = resize(r.scales, rows)
	r.sums = resize(r.sums, rows*max(1, ceil(quads, depth)))
}

// resize returns a slice of n elements, in the memory of x if that is large enough.
func resize[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}

// meanRows is the number of rows, evenly spread, whose mean is subtracted from all. Chosen:
// any row may be subtracted, and the mean of many is near the one that leaves the least.
const meanRows = 64

// Center makes the mean of up to 64 rows of x what Quantize subtracts, and writes that mean
// to mean, as two rows whose sum it is. What rows have in common is then exact to 15 bits
// instead of eight (channel-wise shifting, as in Wei et al. 2023, "Outlier Suppression+"):
//
//	A·B = (A − 1·meanᵀ)·B + 1·(meanᵀ·B)
//
// The rounding of numbers that are alike in all rows is alike, too, so that it would not
// cancel in a mean over rows.
func (r *Rows) Center(x []float32, stride int, mean *Rows) {
	checkArray("center", x, r.rows, r.cols, stride)
	n := min(r.rows, meanRows)
	for i := range n {
		row := x[i*r.rows/n*stride:][:r.cols]
		add(r.shift, row)
	}
	for j := range r.shift {
		r.shift[j] *= 1 / float32(n)
	}
	mean.Reset(2, r.cols, r.kernel)
	mean.Quantize(r.shift, 0, 0, 1)
	mean.rest(r.shift)
}

// rest quantizes what the first row leaves of x as the second row.
func (r *Rows) rest(x []float32) {
	row, words := r.data[:r.stride], r.kernel.words()
	r.residue = resize(r.residue, len(x))
	for i, v := range x {
		r.residue[i] = v - float32(float32(integer(row, i, words))*r.scales[0])
	}
	r.Quantize(r.residue, 0, 1, 2)
}

// integer returns number i of a row of quads of so many words.
func integer(row []float32, i, words int) int32 {
	if words == 1 {
		return int32(math.Float32bits(row[i/quadSize])<<(24-i%quadSize*8)) >> 24
	}
	return int32(math.Float32bits(row[i/2])<<(16-i%2*16)) >> 16
}

// add adds x to dst.
func add(dst, x []float32) {
	for i := addVector(dst, x); i < len(x); i++ {
		dst[i] += x[i]
	}
}

// Quantize quantizes rows from to to−1 of x, whose rows start every stride numbers and
// may overlap. Other rows may be quantized at the same time. A row with a number that is
// not finite has the scale NaN.
func (r *Rows) Quantize(x []float32, stride, from, to int) {
	checkArray("quantize", x, r.rows, r.cols, stride)
	for i := from; i < to; i++ {
		row, dst := x[i*stride:][:r.cols], r.data[i*r.stride:][:r.stride]
		scale, inverse := scaleOf(row, r.shift)
		r.scales[i] = scale
		shift := r.shift
		for part := 0; part*r.rows < len(r.sums); part++ {
			n := min(depth*quadSize, len(row))
			words := ceil(n, quadSize) * r.kernel.words()
			r.sums[part*r.rows+i] = 128 * quantize(dst[:words], row[:n], shift[:n], inverse, r.kernel.words())
			row, shift, dst = row[n:], shift[n:], dst[words:]
		}
	}
}

// scaleOf returns the scale of x − shift, a 127th of its largest magnitude, and its
// inverse.
func scaleOf(x, shift []float32) (scale, inverse float32) {
	// Without the sign, the bits of numbers are in the order of the numbers, infinity
	// above them, and NaN above that.
	n, top := magnitudeVector(x, shift)
	for i := n; i < len(x); i++ {
		top = max(top, math.Float32bits(x[i]-shift[i])&^(1<<31))
	}
	most := math.Float32frombits(top)
	switch {
	case top >= math.Float32bits(float32(math.Inf(1))):
		return float32(math.NaN()), 0
	case most < leastQuantized:
		return 0, 0
	}
	return most / 127, 127 / most
}

// quantize writes (x − shift)·inverse, rounded to the nearest integers, ties to even, to dst as
// quads of so many words; zeros complete the last one. It returns the sum of the
// integers. With one word, dst may be the beginning of x.
func quantize(dst, x, shift []float32, inverse float32, words int) int32 {
	n, sum := quantizeVector(dst, x, shift, inverse, words)
	for ; n < len(x); n += quadSize {
		var q [quadSize]uint32
		for i, v := range x[n:min(n+quadSize, len(x))] {
			y := int32(math.RoundToEven(float64(float32(float32(v-shift[n+i]) * inverse))))
			sum += y
			q[i] = uint32(y)
		}
		if words == 1 {
			dst[n/quadSize] = math.Float32frombits(q[0]&0xFF | q[1]&0xFF<<8 | q[2]&0xFF<<16 | q[3]<<24)
			continue
		}
		dst[n/2] = math.Float32frombits(q[0]&0xFFFF | q[1]<<16)
		dst[n/2+1] = math.Float32frombits(q[2]&0xFFFF | q[3]<<16)
	}
	return sum
}

// PackQuads makes b the matrix of PackTransposed in quads, with a quarter of the words
// and a scale for each column. It overwrites x.
func (b *Matrix) PackQuads(x []float32, rows, cols, stride int) {
	checkArray("pack", x, cols, rows, stride)
	quads := ceil(rows, quadSize)
	packed := make([]float32, PackedQuadsLen(rows, cols))
	b.data = packed[:PackedLen(quads, cols)]
	scales, zeros := packed[len(b.data):], make([]float32, rows)
	for c := range cols {
		row := x[c*stride:][:rows]
		scale, inverse := scaleOf(row, zeros)
		scales[c] = scale
		quantize(row[:quads], row, zeros, inverse, 1)
		for i, w := range row[:quads] {
			row[i] = math.Float32frombits(math.Float32bits(w) ^ 0x80808080) // b + 128
		}
	}
	b.PackTransposed(x, quads, cols, stride)
	b.form, b.inner, b.scales = quadsForm, rows, scales
}

// PackedQuadsLen returns how many words a packed matrix of rows × cols in quads has: its
// quads, and the scales of its columns and of those that fill its last panels.
func PackedQuadsLen(rows, cols int) int {
	return PackedLen(ceil(rows, quadSize), cols) + PackedLen(1, cols)
}

// SetPackedQuads makes b the matrix of rows × cols in quads whose words are x, as Packed
// returns them. It keeps x as SetPacked does, and panics if x has another length than
// PackedQuadsLen.
func (b *Matrix) SetPackedQuads(x []float32, rows, cols int) {
	if n := PackedQuadsLen(rows, cols); len(x) != n {
		panic(fmt.Sprintf("gemm: %d packed words for %d × %d, want %d", len(x), rows, cols, n))
	}
	quads := ceil(rows, quadSize)
	n := PackedLen(quads, cols)
	*b = Matrix{rows: quads, cols: cols, form: quadsForm, inner: rows, data: x[:n], scales: x[n:]}
}

// Quantized reports whether b is a matrix of quads.
func (b *Matrix) Quantized() bool { return b.form == quadsForm }

// Scales returns the scales of a matrix of quads, those of the columns that fill its last
// panels too, otherwise nil. The caller must not change them.
func (b *Matrix) Scales() []float32 { return b.scales }

// Inner returns the length of the inner sum in numbers of a matrix of quads.
func (b *Matrix) Inner() int { return b.inner }

// FastQuads reports whether this processor multiplies quads faster than float32.
func FastQuads() bool { return bestQuads != GoQuads }

// scaling is what makes numbers of the integers of a tile.
type scaling struct {
	sums []int32   // of its rows
	rows []float32 // scales
	cols []float32 // scales
}

// tileQuadsGo does the work of tileGo on k quads, which have two words in a.
func tileQuadsGo(k int, a []float32, lda int, b, c []float32, ldc int, bias []float32, add bool, q scaling) {
	var sum [goRows * panel]float32
	for i := range goRows {
		var s [panel]int32
		row := a[i*lda:][:2*k]
		for l := range k {
			lo, hi := math.Float32bits(row[2*l]), math.Float32bits(row[2*l+1])
			x0, x1, x2, x3 := int32(int16(lo)), int32(lo)>>16, int32(int16(hi)), int32(hi)>>16
			for j, w := range b[l*panel:][:panel] {
				y := math.Float32bits(w)
				s[j] += x0*int32(y&0xFF) + x1*int32(y>>8&0xFF) + x2*int32(y>>16&0xFF) + x3*int32(y>>24)
			}
		}
		for j, v := range s {
			// Conversions round each step, as the other kernels do.
			sum[i*panel+j] = float32(float32(float32(v-q.sums[i])*q.rows[i]) * q.cols[j])
		}
	}
	putGo(&sum, c, ldc, bias, add)
}
