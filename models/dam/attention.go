package dam

import (
	"github.com/voicescreen/voicescreen/models/internal/nn/gemm"
	"github.com/voicescreen/voicescreen/models/internal/nn/simd"
)

// queryRows is the number of queries whose scores with all keys of a head are
// in memory at once for one goroutine: 48 × 1500 numbers, 288 kB, stay in a
// second-level cache of 1 MB. It is a multiple of the rows of every kernel.
//
// Flash attention (Dao et al. 2022) divides the keys into blocks too, and
// corrects sums and outputs whenever a block has a larger score. With 1,500 keys
// whole rows fit: each number is exponentiated once, without corrections.
const queryRows = 48

// keyStride is the distance between the scores of two queries: each row starts at
// the beginning of a cache line.
func keyStride(keys int) int { return (keys + 15) &^ 15 }

// pack packs the keys and values of one head for their products, as a task.
type pack struct {
	w     *workspace
	shape Shape
}

func (p *pack) part(head int, _ *worker) {
	s := p.shape
	size := s.Width / s.Heads
	stride := 3 * s.Width
	p.w.keys[head].PackTransposed(p.w.wide[s.Width+head*size:], size, s.Frames, stride)
	p.w.vals[head].Pack(p.w.wide[2*s.Width+head*size:], s.Frames, size, stride)
}

// attend computes softmax(Q·Kᵀ)·V (Vaswani et al. 2017, equation 1; the query
// has been scaled) for queryRows queries of one head, as a task.
type attend struct {
	w     *workspace
	shape Shape
}

func (a *attend) part(i int, w *worker) {
	s := a.shape
	size, stride := s.Width/s.Heads, keyStride(s.Frames)
	blocks := parts(s.Frames, queryRows)
	head, from := i/blocks, i%blocks*queryRows
	rows := min(queryRows, s.Frames-from)

	scores := gemm.Product{
		C: w.scores, StrideC: stride,
		A: a.w.wide[from*3*s.Width+head*size:], StrideA: 3 * s.Width,
		Rows: rows, B: &a.w.keys[head],
	}
	for block := range scores.Blocks() {
		scores.Block(block, &w.gemm)
	}
	for r := range rows {
		w.sums[r] = simd.Softmax(w.scores[r*stride:][:s.Frames])
	}
	out := gemm.Product{
		C: a.w.y[from*s.Width+head*size:], StrideC: s.Width,
		A: w.scores, StrideA: stride,
		Rows: rows, B: &a.w.vals[head],
	}
	for block := range out.Blocks() {
		out.Block(block, &w.gemm)
	}
	for r := range rows {
		row := out.C[r*s.Width:][:size]
		simd.Scale(row, 1/w.sums[r])
		if a.w.paired {
			at := (from+r)*s.Width + head*size
			gemm.Pair(a.w.normed.x[at/2:][:size/2], row)
		}
	}
}

// attention computes the outputs of the heads into y from the queries, keys and
// values in wide.
func (w *workspace) attention(s Shape) {
	w.pack = pack{w, s}
	w.crew.run(&w.pack, s.Heads)
	w.attend = attend{w, s}
	w.crew.run(&w.attend, s.Heads*parts(s.Frames, queryRows))
}
