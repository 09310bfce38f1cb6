package gemm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// quantized returns the integers and the scale of x by definition: the scale is a 127th of
// the largest magnitude, and each integer the nearest one, ties to even.
func quantized(x []float32) (q []int, scale float32) {
	var top float32
	for _, v := range x {
		top = max(top, float32(math.Abs(float64(v))))
	}
	q = make([]int, len(x))
	if top < leastQuantized {
		return q, 0
	}
	for i, v := range x {
		q[i] = int(math.RoundToEven(float64(v * (127 / top))))
	}
	return q, top / 127
}

// quadsProduct computes row i and column j of a product by definition: integers, exactly,
// and a number for each part of the inner sum of depth quads.
func quadsProduct(a, b []float32, c, bias float32) float32 {
	p, sa := quantized(a)
	q, sb := quantized(b)
	for k := 0; k == 0 || k < len(p); k += depth * quadSize {
		sum := 0
		for l := k; l < min(len(p), k+depth*quadSize); l++ {
			sum += p[l] * q[l]
		}
		part := float32(float32(float32(sum)*sa) * sb) // conversions keep compilers from fusing steps
		if k == 0 {
			part += bias
		}
		if k == 0 && c == 0 {
			c = part // without adding, the sign of a zero included
		} else {
			c = part + c
		}
	}
	return c
}

// runQuads computes a product of the rows of x with the columns of weight [n × k].
func runQuads(kernel Kernel, x []float32, stride, m, k, n int, weight, c, bias []float32) []float32 {
	var b Matrix
	b.PackQuads(slices.Clone(weight), k, n, k)
	var left Rows
	left.Reset(m, k, kernel)
	left.Quantize(x, stride, 0, m/2)
	left.Quantize(x, stride, m/2, m)
	p := &Product{C: make([]float32, m*n), StrideC: n, Rows: m, B: &b, Bias: bias, Left: &left}
	if c != nil {
		copy(p.C, c)
		p.Add = true
	}
	p.run()
	return p.C
}

// TestProductOfQuads holds every kernel to the definition, bit by bit.
func TestProductOfQuads(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 10))
	sizes := [][3]int{
		{1, 0, 1}, {1, 1, 1}, {4, 2, 16}, {12, 7, 32}, {13, 64, 33}, {6, 16, 16}, {25, 4*depth + 1, 20}, {5, 8*depth + 6, 65}, {40, 66, 31},
		{blockRows + 5, 20, 3}, {3, 33, blockCols + 9},
	}
	for range 20 {
		sizes = append(sizes, [3]int{1 + r.IntN(40), 1 + r.IntN(140), 1 + r.IntN(100)})
	}
	for _, size := range sizes {
		m, k, n := size[0], size[1], size[2]
		x, weight, bias, c := random(r, m*k), random(r, n*k), random(r, n), random(r, m*n)
		for variant := range 3 {
			var add, by []float32
			switch variant {
			case 1:
				by = bias
			case 2:
				by, add = bias, c
			}
			want := make([]float32, m*n)
			for i := range want {
				var old, b float32
				if add != nil {
					old = add[i]
				}
				if by != nil {
					b = by[i%n]
				}
				want[i] = quadsProduct(x[i/n*k:][:k], weight[i%n*k:][:k], old, b)
			}
			for _, kernel := range QuadKernels() {
				if got := runQuads(kernel, x, k, m, k, n, weight, add, by); !slices.Equal(got, want) {
					at := 0
					for got[at] == want[at] {
						at++
					}
					t.Fatalf("%v, %v, variant %d: got %v at %d, want %v", kernel, size, variant, got[at], at, want[at])
				}
			}
		}
	}
}

// TestLargestQuads multiplies the largest integers of each sign, whose sums are the
// largest: VPMADDUBSW would saturate.
func TestLargestQuads(t *testing.T) {
	const m, k, n = 13, 4 * depth, 33
	for _, kernel := range QuadKernels() {
		for _, sign := range []float32{1, -1} {
			x, weight := make([]float32, m*k), make([]float32, n*k)
			for i := range x {
				x[i] = 127
			}
			for i := range weight {
				weight[i] = 127 * sign
			}
			for i, got := range runQuads(kernel, x, k, m, k, n, weight, nil, nil) {
				if want := sign * 127 * 127 * k; got != want {
					t.Fatalf("%v: got %v at %d, want %v", kernel, got, i, want)
				}
			}
		}
	}
}

// TestQuadsAreNearTheProduct bounds the error by that of rounding: a half of each scale.
func TestQuadsAreNearTheProduct(t *testing.T) {
	const m, k, n = 20, 300, 40
	r := rand.New(rand.NewPCG(8, 11))
	x, weight := random(r, m*k), random(r, n*k)
	got := runQuads(0, x, k, m, k, n, weight, nil, nil)
	for i, v := range got {
		want, size := 0.0, 0.0
		for l := range k {
			a, b := float64(x[i/n*k+l]), float64(weight[i%n*k+l])
			want += a * b
			size += math.Abs(a) + math.Abs(b) + 1.0/254
		}
		if bound := size / 254; math.Abs(float64(v)-want) > bound { // all magnitudes are below 1
			t.Fatalf("got %v at %d, want %v within %v", v, i, want, bound)
		}
	}
}

// centered computes the product as nn does: with the mean of the rows apart.
func centered(kernel Kernel, x []float32, m, k, n int, weight []float32) []float32 {
	var b Matrix
	b.PackQuads(slices.Clone(weight), k, n, k)
	var left, mean Rows
	left.Reset(m, k, kernel)
	left.Center(x, k, &mean)
	left.Quantize(x, k, 0, m)
	offsets := make([]float32, 2*n)
	(&Product{C: offsets, StrideC: n, Rows: 2, B: &b, Left: &mean}).run()
	for j := range n {
		offsets[j] += offsets[n+j]
	}
	p := &Product{C: make([]float32, m*n), StrideC: n, Rows: m, B: &b, Bias: offsets[:n], Left: &left}
	p.run()
	return p.C
}

// TestCenteredRows multiplies rows that differ by a hundredth. The rounding of the weights
// is in the wanted numbers, so that only that of the rows is left: of their differences,
// and of their mean to 15 bits.
func TestCenteredRows(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 14))
	for _, size := range [][3]int{{1, 1, 1}, {2, 5, 3}, {90, 300, 40}, {meanRows, 4*depth + 40, 33}, {200, 17, 20}} {
		m, k, n := size[0], size[1], size[2]
		common, x, weight := random(r, k), random(r, m*k), random(r, n*k)
		for i := range x {
			x[i] = common[i%k] + x[i]/100
		}
		var first []float32
		for _, kernel := range QuadKernels() {
			got := centered(kernel, x, m, k, n, weight)
			if first == nil {
				first = got
			}
			if !slices.Equal(got, first) {
				t.Errorf("%v, %v: got another product than with Go", kernel, size)
			}
		}
		for i, v := range first {
			want, bound := 0.0, 0.0
			q, scale := quantized(weight[i%n*k:][:k])
			for l := range k {
				b := float64(q[l]) * float64(scale)
				want += float64(x[i/n*k+l]) * b
				bound += math.Abs(b) * (0.02/254 + 1.01/127/254) // half a step of the differences, and of the rest of the mean
			}
			if bound += sumTolerance(k); math.Abs(float64(v)-want) > bound {
				t.Fatalf("%v: got %v at %d, want %v within %v", size, v, i, want, bound)
			}
		}
	}
}

// TestRowsOfQuads quantizes rows that overlap, and rows with what cannot be quantized.
func TestRowsOfQuads(t *testing.T) {
	const m, k, n, stride = 30, 19, 20, 3
	r := rand.New(rand.NewPCG(8, 12))
	x, weight := random(r, (m-1)*stride+k), random(r, n*k)
	apart := make([]float32, 0, m*k)
	for i := range m {
		apart = append(apart, x[i*stride:i*stride+k]...)
	}
	for _, kernel := range QuadKernels() {
		if got, want := runQuads(kernel, x, stride, m, k, n, weight, nil, nil), runQuads(kernel, apart, k, m, k, n, weight, nil, nil); !slices.Equal(got, want) {
			t.Errorf("%v: rows that overlap have another product", kernel)
		}
	}
	inf, tiny := float32(math.Inf(1)), float32(1e-38)
	for name, c := range map[string]struct {
		value  float32
		finite bool
	}{"infinity": {inf, false}, "minus infinity": {-inf, false}, "not a number": {float32(math.NaN()), false}, "zero": {0, true}, "a subnormal number": {tiny, true}} {
		for _, length := range []int{1, 15, 16, 17, 40} {
			for at := range length {
				row := make([]float32, length)
				row[at] = c.value
				scale, _ := scaleOf(row, make([]float32, length))
				if finite := scale == scale; finite != c.finite || finite && scale != 0 {
					t.Errorf("%s at %d of %d: got the scale %v", name, at, length, scale)
				}
				for _, kernel := range QuadKernels() {
					weight := random(r, length)
					if got := runQuads(kernel, row, length, 1, length, 1, weight, nil, nil)[0]; (got == 0) != c.finite || c.finite != (got == got) {
						t.Errorf("%v, %s at %d of %d: got %v", kernel, name, at, length, got)
					}
				}
			}
		}
	}
}

// TestSetPackedQuads multiplies with the words and scales of another matrix.
func TestSetPackedQuads(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 13))
	for _, size := range [][2]int{{0, 1}, {1, 1}, {7, 16}, {9, 33}, {300, 70}} {
		k, n := size[0], size[1]
		var a, b Matrix
		a.PackQuads(random(r, n*k), k, n, k)
		if words := PackedQuadsLen(k, n); len(a.Packed()) != words || !a.Quantized() || a.Inner() != k {
			t.Fatalf("%v: got %d words, want %d", size, len(a.Packed()), words)
		}
		b.SetPackedQuads(a.Packed(), k, n)
		var left Rows
		left.Reset(5, k, 0)
		left.Quantize(random(r, 5*k), k, 0, 5)
		want, got := make([]float32, 5*n), make([]float32, 5*n)
		(&Product{C: want, StrideC: n, Left: &left, Rows: 5, B: &a}).run()
		(&Product{C: got, StrideC: n, Left: &left, Rows: 5, B: &b}).run()
		for _, kernel := range Kernels() { // is not used: left has its own
			other := make([]float32, 5*n)
			(&Product{C: other, StrideC: n, Left: &left, Rows: 5, B: &b, Kernel: kernel}).run()
			if !slices.Equal(other, want) {
				t.Errorf("%v: got another product with the kernel %v", size, kernel)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: got another product", size)
		}
	}
	for what, f := range map[string]func(){
		"a wrong length": func() { new(Matrix).SetPackedQuads(make([]float32, 63), 1, 2) },
		"rows of another length": func() {
			var b Matrix
			b.PackQuads(make([]float32, 12), 3, 4, 3)
			left := new(Rows)
			left.Reset(2, 4, 0)
			(&Product{C: make([]float32, 8), StrideC: 4, Left: left, Rows: 2, B: &b}).Blocks()
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: got no panic", what)
				}
			}()
			f()
		}()
	}
}
