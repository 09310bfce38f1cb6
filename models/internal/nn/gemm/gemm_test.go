package gemm

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// sumTolerance bounds the error of a sum of n products of numbers below 1 in
// float32: n+2 roundings of at most 2^-24 each of partial sums, which for
// random signs stay below 2·sqrt(n+2). It is 1e-3 for the longest sums here; a
// product that is left out or taken twice is a third on average.
func sumTolerance(n int) float64 { return float64(n+2) * 2 * math.Sqrt(float64(n+2)) * 0x1p-24 }

func random(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = 2*r.Float32() - 1
	}
	return x
}

// run computes all blocks.
func (p *Product) run() {
	var s Scratch
	for i := range p.Blocks() {
		p.Block(i, &s)
	}
}

func TestProductIsTheSumOfProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	sizes := [][3]int{
		{0, 3, 3}, {1, 0, 1}, {1, 1, 1}, {4, 16, 16}, {6, 5, 16}, {12, 4, 32}, {12, 7, 33}, {13, 64, 48}, {11, 3, 31},
		{5, depth, 17}, {25, depth + 1, 20}, {7, 2*depth + 3, 65}, {blockRows, 9, 3}, {blockRows + 1, 6, blockCols + 1},
	}
	for range 20 {
		sizes = append(sizes, [3]int{1 + r.IntN(40), 1 + r.IntN(70), 1 + r.IntN(100)})
	}
	for _, kernel := range Kernels() {
		for _, size := range sizes {
			for variant := range 4 {
				m, k, n := size[0], size[1], size[2]
				checkProduct(t, r, kernel, m, k, n, variant&1 != 0, variant&2 != 0)
			}
		}
	}
}

// checkProduct compares one product with its definition in float64, and checks that
// the numbers between the rows of C stay unchanged.
func checkProduct(t *testing.T, r *rand.Rand, kernel Kernel, m, k, n int, biased, add bool) {
	t.Helper()
	lda, ldb, ldc := k+r.IntN(3), n+r.IntN(3), n+r.IntN(20)
	a, x, c := random(r, m*lda), random(r, k*ldb), random(r, m*ldc)
	var b Matrix
	b.Pack(x, k, n, ldb)
	p := &Product{C: append([]float32(nil), c...), StrideC: ldc, A: a, StrideA: lda, Rows: m, B: &b, Add: add, Kernel: kernel}
	if biased {
		p.Bias = random(r, n)
	}
	calls := 0
	p.After = func(row []float32, _, _ int) { calls += len(row) }
	p.run()
	if calls != m*n {
		t.Errorf("%v, %d × %d × %d: After got %d numbers, want %d", kernel, m, k, n, calls, m*n)
	}
	for i := range m {
		for j := range ldc {
			want := float64(c[i*ldc+j])
			if j < n {
				if !add {
					want = 0
				}
				if biased {
					want += float64(p.Bias[j])
				}
				for l := range k {
					want += float64(a[i*lda+l]) * float64(x[l*ldb+j])
				}
			}
			got := float64(p.C[i*ldc+j])
			if !(math.Abs(got-want) <= sumTolerance(k)) || j >= n && got != want {
				t.Fatalf("%v, %d × %d × %d, bias %v, add %v: got %v at %d, %d, want %v", kernel, m, k, n, biased, add, got, i, j, want)
			}
		}
	}
}

// TestProductOfPairs holds products of pairs to the definition with factors
// rounded to eight bits.
func TestProductOfPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 6))
	for _, kernel := range PairKernels() {
		for _, size := range [][3]int{
			{1, 1, 1}, {4, 2, 16}, {12, 7, 32}, {13, 64, 33}, {25, 2*depth + 1, 20}, {5, 4*depth + 6, 65}, {40, 66, 31},
		} {
			m, k, n := size[0], size[1], size[2]
			pairs := (k + 1) / 2
			x, weight := random(r, m*k), random(r, n*k)
			a := make([]float32, m*pairs)
			for i := range m {
				Pair(a[i*pairs:][:pairs], x[i*k:][:k])
			}
			var b Matrix
			b.PackPairs(append([]float32(nil), weight...), k, n, k)
			p := &Product{C: make([]float32, m*n), StrideC: n, A: a, StrideA: pairs, Rows: m, B: &b, Bias: random(r, n), Kernel: kernel}
			p.run()
			for i, got := range p.C {
				want := float64(p.Bias[i%n])
				for l := range k {
					want += half(x[i/n*k+l]) * half(weight[i%n*k+l])
				}
				if !(math.Abs(float64(got)-want) <= sumTolerance(k)) {
					t.Fatalf("%v, %v: got %v at %d, want %v", kernel, size, got, i, want)
				}
			}
		}
	}
}

// half rounds to eight bits by definition.
func half(x float32) float64 {
	fraction, exponent := math.Frexp(float64(x))
	return math.Ldexp(math.RoundToEven(fraction*256)/256, exponent)
}

func TestPair(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 7))
	for _, n := range []int{0, 1, 2, 15, 31, 32, 33, 63, 64, 65, 100, 768} {
		x := random(r, n)
		if n > 20 {
			// Exact, ties to even either way, and the largest numbers.
			copy(x, []float32{1, -0.5, 0, 1 + 0x1p-8, 1 + 3*0x1p-8, 1 + 0x1p-8 + 0x1p-20, -(1 + 0x1p-8), 3e38, -3e38,
				float32(math.Inf(1)), float32(math.Inf(-1))})
		}
		got := append([]float32(nil), x...)
		Pair(got[:(n+1)/2], got)
		for i, v := range x {
			p := float64(first(got[i/2]))
			if i%2 == 1 {
				p = float64(second(got[i/2]))
			}
			if want := half(v); p != want && !math.IsInf(float64(v), 0) || math.IsInf(float64(v), 0) && p != float64(v) {
				t.Errorf("%d numbers: got %v for %v, want %v", n, p, v, want)
			}
		}
		if n%2 == 1 && second(got[n/2]) != 0 {
			t.Errorf("%d numbers: got %v beside the last, want 0", n, second(got[n/2]))
		}
	}
	nan := []float32{float32(math.NaN()), 1}
	Pair(nan[:1], nan)
	if !math.IsNaN(float64(first(nan[0]))) {
		t.Errorf("got %v for a number that is none", first(nan[0]))
	}
}

// TestSetPacked multiplies with the numbers of another matrix.
func TestSetPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	for _, size := range [][2]int{{0, 0}, {1, 1}, {7, 16}, {9, 33}, {300, 70}} {
		k, n := size[0], size[1]
		var a, b Matrix
		a.Pack(random(r, k*n), k, n, n)
		if len(a.Packed()) != PackedLen(k, n) {
			t.Fatalf("%v: got %d numbers, want %d", size, len(a.Packed()), PackedLen(k, n))
		}
		b.SetPacked(a.Packed(), k, n)
		x := random(r, 5*k)
		want, got := make([]float32, 5*n), make([]float32, 5*n)
		(&Product{C: want, StrideC: n, A: x, StrideA: k, Rows: 5, B: &a}).run()
		(&Product{C: got, StrideC: n, A: x, StrideA: k, Rows: 5, B: &b}).run()
		if !slices.Equal(got, want) {
			t.Errorf("%v: got another product", size)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a wrong length: got no panic")
		}
	}()
	new(Matrix).SetPacked(make([]float32, 31), 1, 2)
}

func TestPackTransposed(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	for _, size := range [][3]int{{1, 1, 1}, {3, 17, 5}, {16, 16, 16}, {33, 40, 37}, {7, 64, 9}} {
		k, n, stride := size[0], size[1], size[0]+size[2]
		x := random(r, n*stride)
		turned := make([]float32, k*n)
		for i := range n {
			for j := range k {
				turned[j*n+i] = x[i*stride+j]
			}
		}
		var got, want Matrix
		got.Reset(50, 50) // memory with something in it
		for i := range got.data {
			got.data[i] = 9
		}
		got.PackTransposed(x, k, n, stride)
		want.Pack(turned, k, n, n)
		if got.Rows() != k || got.Cols() != n {
			t.Errorf("got %d × %d, want %d × %d", got.Rows(), got.Cols(), k, n)
		}
		for i := range want.data {
			if got.data[i] != want.data[i] {
				t.Fatalf("%d × %d: number %d is %v, want %v", k, n, i, got.data[i], want.data[i])
			}
		}
	}
}

// TestBlocksInAnyOrder computes blocks on several goroutines, and over again,
// and asks for the same bits.
func TestBlocksInAnyOrder(t *testing.T) {
	const m, k, n = blockRows + 40, depth + 40, blockCols + 40
	r := rand.New(rand.NewPCG(8, 3))
	a, x, bias := random(r, m*k), random(r, k*n), random(r, n)
	var b Matrix
	b.Pack(x, k, n, n)
	want := Product{C: make([]float32, m*n), StrideC: n, A: a, StrideA: k, Rows: m, B: &b, Bias: bias}
	want.run()
	got := want
	got.C = make([]float32, m*n)
	var group sync.WaitGroup
	for i := range got.Blocks() {
		group.Add(1)
		go func() {
			defer group.Done()
			got.Block(got.Blocks()-1-i, new(Scratch))
		}()
	}
	group.Wait()
	for i := range want.C {
		if got.C[i] != want.C[i] {
			t.Fatalf("got %v at %d, want %v", got.C[i], i, want.C[i])
		}
	}
}

// TestStripsHaveTheSameBits compares the last columns of a kernel with wide tiles, which
// another one computes, with the same columns among others.
func TestStripsHaveTheSameBits(t *testing.T) {
	const m, k, n = 30, 2*depth + 9, 3 * panel
	r := rand.New(rand.NewPCG(8, 15))
	a, x, bias := random(r, m*k), random(r, k*n), random(r, n)
	for _, kernel := range Kernels() {
		for _, cols := range []int{2*panel + 1, n} {
			var all, few Matrix
			all.Pack(x, k, n, n)
			few.Pack(x, k, cols, n)
			want := Product{C: make([]float32, m*n), StrideC: n, A: a, StrideA: k, Rows: m, B: &all, Bias: bias, Kernel: kernel}
			got := Product{C: make([]float32, m*cols), StrideC: cols, A: a, StrideA: k, Rows: m, B: &few, Bias: bias[:cols], Kernel: kernel}
			for _, p := range []*Product{&want, &got} {
				p.run()
			}
			for i := range m {
				if !slices.Equal(got.C[i*cols:][:cols], want.C[i*n:][:cols]) {
					t.Fatalf("%v, %d columns: row %d differs", kernel, cols, i)
				}
			}
		}
	}
	if slices.Contains(Kernels(), AVX512) {
		var b Matrix
		b.Pack(x, k, n, n)
		var c [2][]float32
		for i, kernel := range []Kernel{FMA, AVX512} {
			p := Product{C: make([]float32, m*n), StrideC: n, A: a, StrideA: k, Rows: m, B: &b, Bias: bias, Kernel: kernel}
			p.run()
			c[i] = p.C
		}
		if !slices.Equal(c[0], c[1]) {
			t.Error("FMA and AVX-512 give other bits")
		}
	}
}

func TestRowsOfAMayOverlap(t *testing.T) {
	const m, k, n, stride = 30, 9, 20, 3
	r := rand.New(rand.NewPCG(8, 4))
	a, x := random(r, (m-1)*stride+k), random(r, k*n)
	apart := make([]float32, 0, m*k)
	for i := range m {
		apart = append(apart, a[i*stride:i*stride+k]...)
	}
	var b Matrix
	b.Pack(x, k, n, n)
	got := Product{C: make([]float32, m*n), StrideC: n, A: a, StrideA: stride, Rows: m, B: &b}
	want := got
	want.C, want.A, want.StrideA = make([]float32, m*n), apart, k
	got.run()
	want.run()
	for i := range want.C {
		if got.C[i] != want.C[i] {
			t.Fatalf("got %v at %d, want %v", got.C[i], i, want.C[i])
		}
	}
}

func TestArraysTooShortPanic(t *testing.T) {
	var b Matrix
	b.Pack(make([]float32, 12), 3, 4, 4)
	good := Product{C: make([]float32, 8), StrideC: 4, A: make([]float32, 6), StrideA: 3, Rows: 2, B: &b}
	good.run()
	for what, change := range map[string]func(*Product){
		"A":       func(p *Product) { p.A = p.A[:5] },
		"C":       func(p *Product) { p.C = p.C[:7] },
		"bias":    func(p *Product) { p.Bias = make([]float32, 3) },
		"strides": func(p *Product) { p.StrideA = 4 },
	} {
		p := good
		change(&p)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: got no panic", what)
				}
			}()
			p.run()
		}()
	}
}
