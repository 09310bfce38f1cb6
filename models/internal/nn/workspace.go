package nn

import (
	"github.com/voicescreen/voicescreen/models/internal/nn/gemm"
	"github.com/voicescreen/voicescreen/models/internal/nn/simd"
)

// rowsAtOnce is the number of rows in a part of a task that goes row by row.
// Chosen: 150 kB at a width of 768.
const rowsAtOnce = 50

// Sizes are those of a sequence and of the layers that run on it.
type Sizes struct {
	Frames int // the longest sequence
	Width  int // of the residual stream
	Heads  int // of the attention; Width is a multiple of it
	Inner  int // width of the feed-forward layers
}

// Workspace holds the activations of one sequence, and the steps that use them. One
// goroutine at a time may use it. For 1,500 frames of width 768 with an inner width
// of 3,072 it takes 36 MB, and 0.3 MB for each goroutine: the residual stream and a
// normalised copy (9 MB), queries, keys and values or the feed-forward layer (18 MB),
// and packed keys and values (9 MB). Pairs of bfloat16 add 12 MB, and products with
// matrices of integers 5 MB (9 MB without AVX512_VNNI).
type Workspace struct {
	X []float32 // [frames, Width], the residual stream
	Y []float32 // [frames, Width], the result of Normalize or Attend

	sizes  Sizes
	frames int
	crew   *crew
	x, y   []float32 // of the longest sequence
	wide   []float32 // [Frames, max(3·Width, Inner)]
	keys   []gemm.Matrix
	vals   []gemm.Matrix

	// The left factors of products: the arrays above, or pairs of bfloat16 in
	// arrays of their own.
	paired         bool
	normed, hidden Operand
	afterInner     gemm.After

	product  product
	products products
	quantize quantize
	quads    gemm.Rows // the left factor of a product with integers
	mean     gemm.Rows // what was subtracted from its rows
	offsets  []float32 // the product of mean
	norm     norm
	sum      sum
	each     each
	pack     pack
	attend   attend
}

// NewWorkspace returns a workspace for sequences of s.Frames, on this number of
// goroutines, at least 1. If paired is set, the left factors of products with layers
// are pairs of bfloat16; Width/Heads and Inner must be even then.
func NewWorkspace(s Sizes, threads int, paired bool) *Workspace {
	w := &Workspace{
		sizes: s,
		crew:  newCrew(threads, keyStride(s.Frames)),
		x:     make([]float32, s.Frames*s.Width),
		y:     make([]float32, s.Frames*s.Width),
		wide:  make([]float32, s.Frames*max(3*s.Width, s.Inner)),
		keys:  make([]gemm.Matrix, s.Heads),
		vals:  make([]gemm.Matrix, s.Heads),
	}
	w.setOperands(paired)
	w.SetFrames(s.Frames)
	return w
}

// SetFrames sets the length of the sequence, from 1 to Sizes.Frames. X and Y have
// undefined numbers then. It panics if the length is another one.
func (w *Workspace) SetFrames(frames int) {
	if frames < 1 || frames > w.sizes.Frames {
		panic("nn: length of a sequence out of range")
	}
	w.frames = frames
	w.X, w.Y = w.x[:frames*w.sizes.Width], w.y[:frames*w.sizes.Width]
}

// Operand is the left factor of a product: numbers or pairs, with rows Stride
// apart.
type Operand struct {
	X      []float32
	Stride int
}

// setOperands sets the left factors of products, and the function that writes them
// in pairs if paired is set.
func (w *Workspace) setOperands(paired bool) {
	s := &w.sizes
	w.paired = paired
	w.afterInner = GELU
	w.normed, w.hidden = Operand{w.y, s.Width}, Operand{w.wide, s.Inner}
	if !paired {
		return
	}
	w.normed = Operand{make([]float32, len(w.y)/2), s.Width / 2}
	w.hidden = Operand{make([]float32, s.Frames*s.Inner/2), s.Inner / 2}
	w.afterInner = func(part []float32, m, n int) {
		simd.GELU(part)
		gemm.Pair(w.hidden.X[(m*s.Inner+n)/2:][:len(part)/2], part)
	}
}

// GELU applies simd.GELU to a part of a product.
func GELU(part []float32, _, _ int) { simd.GELU(part) }

// product is a matrix product as a task.
type product struct{ gemm.Product }

func (p *product) part(i int, w *worker) { p.Block(i, &w.gemm) }

// quantize makes integers of the rows of a left factor, as a task.
type quantize struct {
	to     *gemm.Rows
	x      []float32
	stride int
	rows   int
}

func (q *quantize) part(i int, _ *worker) {
	q.to.Quantize(q.x, q.stride, i*rowsAtOnce, min(q.rows, (i+1)*rowsAtOnce))
}

// integers makes integers of A, each row with a scale of its own, for a product with a
// matrix of integers. What the rows have in common goes into the bias.
func (w *Workspace) integers(p *gemm.Product) {
	w.quads.Reset(p.Rows, p.B.Inner(), 0)
	w.quads.Center(p.A, p.StrideA, &w.mean)
	w.quantize = quantize{&w.quads, p.A, p.StrideA, p.Rows}
	w.crew.run(&w.quantize, parts(p.Rows, rowsAtOnce))

	n := p.B.Cols()
	if cap(w.offsets) < 2*n {
		w.offsets = make([]float32, 2*n)
	}
	offsets, rest := w.offsets[:n], w.offsets[n:2*n]
	w.product.Product = gemm.Product{C: w.offsets[:2*n], StrideC: n, Rows: 2, B: p.B, Left: &w.mean}
	w.crew.run(&w.product, w.product.Blocks())
	for j, v := range rest {
		offsets[j] += v
	}
	for j, v := range p.Bias {
		offsets[j] += v
	}
	p.Left, p.Bias = &w.quads, offsets
}

// Multiply computes a product on all goroutines, of integers if B is a matrix of integers.
func (w *Workspace) Multiply(p gemm.Product) {
	if p.B.Quantized() {
		w.integers(&p)
	}
	w.product.Product = p
	w.crew.run(&w.product, p.Blocks())
}

// products are several matrix products as one task.
type products struct {
	all    []gemm.Product
	blocks int // of each
}

func (p *products) part(i int, w *worker) { p.all[i/p.blocks].Block(i%p.blocks, &w.gemm) }

// MultiplyAll computes products of the same sizes, at least one and none of integers, at
// the same time on all goroutines.
func (w *Workspace) MultiplyAll(p []gemm.Product) {
	for i := range p {
		w.products.blocks = p[i].Blocks()
	}
	w.products.all = p
	w.crew.run(&w.products, len(p)*w.products.blocks)
	w.products.all = nil
}

// norm is a layer normalisation of rows of the residual stream as a task.
type norm struct {
	dst, x []float32 // [rows, len(by.Weight)]
	pairs  []float32 // of dst; nil for none
	by     *Norm
}

func (n *norm) part(i int, _ *worker) {
	width := len(n.by.Weight)
	rows := len(n.x) / width
	for r := i * rowsAtOnce; r < min(rows, (i+1)*rowsAtOnce); r++ {
		simd.Normalize(n.dst[r*width:][:width], n.x[r*width:][:width], n.by.Weight, n.by.Bias, Epsilon)
		if n.pairs != nil {
			gemm.Pair(n.pairs[r*width/2:][:width/2], n.dst[r*width:][:width])
		}
	}
}

// Normalize writes the normalised rows of X to Y, and in pairs to the left factor of
// the next product.
func (w *Workspace) Normalize(by *Norm) {
	w.norm = norm{dst: w.Y, x: w.X, by: by}
	if w.paired {
		w.norm.pairs = w.normed.X
	}
	w.crew.run(&w.norm, parts(len(w.X)/len(by.Weight), rowsAtOnce))
}

// NormalizeRows writes the normalised rows of x, of len(by.Weight) numbers, to dst,
// which has as many; dst may be x.
func (w *Workspace) NormalizeRows(dst, x []float32, by *Norm) {
	w.norm = norm{dst: dst, x: x, by: by}
	w.crew.run(&w.norm, parts(len(x)/len(by.Weight), rowsAtOnce))
}

// each calls a function as a task.
type each struct{ f func(i int) }

func (e *each) part(i int, _ *worker) { e.f(i) }

// Each calls f with 0 to n−1, n at least 1, on all goroutines at the same time.
func (w *Workspace) Each(n int, f func(i int)) {
	w.each = each{f}
	w.crew.run(&w.each, n)
}

// sum adds numbers to others, as a task.
type sum struct{ dst, x []float32 }

// sumAtOnce is the numbers of a part of a sum. Chosen: 128 kB.
const sumAtOnce = 1 << 15

func (s *sum) part(i int, _ *worker) {
	dst := s.dst[i*sumAtOnce : min(len(s.dst), (i+1)*sumAtOnce)]
	for j, v := range s.x[i*sumAtOnce:][:len(dst)] {
		dst[j] += v
	}
}

// Add adds x to X, which must have the same length.
func (w *Workspace) Add(x []float32) {
	w.sum = sum{w.X, x}
	w.crew.run(&w.sum, parts(len(w.X), sumAtOnce))
}

// parts returns the number of parts of at most size that make n.
func parts(n, size int) int { return (n + size - 1) / size }
