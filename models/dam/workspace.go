package dam

import (
	"github.com/voicescreen/voicescreen/models/internal/nn/gemm"
	"github.com/voicescreen/voicescreen/models/internal/nn/simd"
)

// rowsAtOnce is the number of rows in a part of a task that goes row by row.
// Chosen: 150 kB at the published width.
const rowsAtOnce = 50

// workspace holds the activations of one chunk, and the steps that use them. At
// the published shape it takes 47 MB, and 0.3 MB for each goroutine: input and
// output of the convolutions (10 MB), the residual stream and a normalised copy
// (9 MB), queries, keys and values or the feed-forward layer (18 MB), and packed
// keys and values (9 MB). Pairs of bfloat16 add 16 MB.
type workspace struct {
	crew *crew

	mel  []float32 // [2·Frames+2, Mels], a frame of zeros at both ends
	conv []float32 // [2·Frames+2, Width], the same
	x    []float32 // [Frames, Width], the residual stream
	y    []float32 // [Frames, Width]
	wide []float32 // [Frames, max(3·Width, Inner)]
	keys []gemm.Matrix
	vals []gemm.Matrix

	// The left factors of products: the arrays above, or pairs of bfloat16 in
	// arrays of their own.
	paired                             bool
	spectrum, convolved, normed, inner operand
	afterConv1, afterInner             gemm.After

	product product
	norm    norm
	embed   embed
	pack    pack
	attend  attend
	sums    []float64 // [Width]
}

func newWorkspace(s Shape, threads int, paired bool) *workspace {
	w := &workspace{
		crew: newCrew(threads, keyStride(s.Frames)),
		mel:  make([]float32, (2*s.Frames+2)*s.Mels),
		conv: make([]float32, (2*s.Frames+2)*s.Width),
		x:    make([]float32, s.Frames*s.Width),
		y:    make([]float32, s.Frames*s.Width),
		wide: make([]float32, s.Frames*max(3*s.Width, s.Inner)),
		keys: make([]gemm.Matrix, s.Heads),
		vals: make([]gemm.Matrix, s.Heads),
		sums: make([]float64, s.Width),
	}
	w.setOperands(s, paired)
	return w
}

// operand is the left factor of a product: numbers or pairs, with rows stride
// apart.
type operand struct {
	x      []float32
	stride int
}

// setOperands sets the left factors of products, and the functions that write them
// in pairs if paired is set.
func (w *workspace) setOperands(s Shape, paired bool) {
	w.paired = paired
	w.afterConv1, w.afterInner = gelu, gelu
	w.spectrum, w.convolved = operand{w.mel, s.Mels}, operand{w.conv, 2 * s.Width}
	w.normed, w.inner = operand{w.y, s.Width}, operand{w.wide, s.Inner}
	if !paired {
		return
	}
	w.spectrum.stride /= 2
	w.convolved = operand{make([]float32, len(w.conv)/2), s.Width}
	w.normed = operand{make([]float32, len(w.y)/2), s.Width / 2}
	w.inner = operand{make([]float32, s.Frames*s.Inner/2), s.Inner / 2}
	w.afterConv1 = func(part []float32, m, n int) {
		simd.GELU(part)
		gemm.Pair(w.convolved.x[((m+1)*s.Width+n)/2:][:len(part)/2], part)
	}
	w.afterInner = func(part []float32, m, n int) {
		simd.GELU(part)
		gemm.Pair(w.inner.x[(m*s.Inner+n)/2:][:len(part)/2], part)
	}
}

// gelu applies GELU to a part of a product.
func gelu(part []float32, _, _ int) { simd.GELU(part) }

// product is a matrix product as a task.
type product struct{ gemm.Product }

func (p *product) part(i int, w *worker) { p.Block(i, &w.gemm) }

// multiply computes a product on all goroutines.
func (w *workspace) multiply(p gemm.Product) {
	w.product.Product = p
	w.crew.run(&w.product, p.Blocks())
}

// norm is a layer normalisation of rows of the residual stream as a task.
type norm struct {
	dst, x []float32 // [rows, len(by.weight)]
	pairs  []float32 // of dst; nil for none
	by     *layerNorm
}

func (n *norm) part(i int, _ *worker) {
	width := len(n.by.weight)
	rows := len(n.x) / width
	for r := i * rowsAtOnce; r < min(rows, (i+1)*rowsAtOnce); r++ {
		simd.Normalize(n.dst[r*width:][:width], n.x[r*width:][:width], n.by.weight, n.by.bias, epsilon)
		if n.pairs != nil {
			gemm.Pair(n.pairs[r*width/2:][:width/2], n.dst[r*width:][:width])
		}
	}
}

// normalize writes the normalised residual stream to y, and in pairs to normed.
func (w *workspace) normalize(by *layerNorm) {
	w.norm = norm{dst: w.y, x: w.x, by: by}
	if w.paired {
		w.norm.pairs = w.normed.x
	}
	w.crew.run(&w.norm, parts(len(w.x)/len(by.weight), rowsAtOnce))
}

// embed adds positions to the residual stream, as a task.
type embed struct{ x, positions []float32 }

func (e *embed) part(i int, _ *worker) {
	const size = 1 << 15
	x := e.x[i*size : min(len(e.x), (i+1)*size)]
	for j, p := range e.positions[i*size:][:len(x)] {
		x[j] += p
	}
}

// addPositions adds the positions to the residual stream.
func (w *workspace) addPositions(positions []float32) {
	w.embed = embed{w.x, positions}
	w.crew.run(&w.embed, parts(len(w.x), 1<<15))
}

// parts returns the number of parts of at most size that make n.
func parts(n, size int) int { return (n + size - 1) / size }

// setMel transposes a spectrum, band after band, into mel, frame after frame.
func (w *workspace) setMel(mel []float32, bands int) {
	frames := len(mel) / bands
	clear(w.mel[:bands]) // it may hold pairs of the chunk before
	for b := range bands {
		for t, v := range mel[b*frames:][:frames] {
			w.mel[(t+1)*bands+b] = v
		}
	}
	if w.paired {
		gemm.Pair(w.mel[:len(w.mel)/2], w.mel)
	}
}

// mean writes the mean of the rows of y to dst.
func (w *workspace) mean(dst []float32) {
	clear(w.sums)
	width := len(w.sums)
	for r := 0; r < len(w.y); r += width {
		for j, v := range w.y[r:][:width] {
			w.sums[j] += float64(v)
		}
	}
	for j, sum := range w.sums {
		dst[j] = float32(sum / float64(len(w.y)/width))
	}
}
