package nn

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
type pack struct{ w *Workspace }

func (p *pack) part(head int, _ *worker) {
	w, s := p.w, &p.w.sizes
	size := s.Width / s.Heads
	stride := 3 * s.Width
	w.keys[head].PackTransposed(w.wide[s.Width+head*size:], size, w.frames, stride)
	w.vals[head].Pack(w.wide[2*s.Width+head*size:], w.frames, size, stride)
}

// attend computes softmax(Q·Kᵀ)·V (Vaswani et al. 2017, equation 1; the query
// has been scaled) for queryRows queries of one head, as a task.
type attend struct{ w *Workspace }

func (a *attend) part(i int, w *worker) {
	s, frames := &a.w.sizes, a.w.frames
	size, stride := s.Width/s.Heads, keyStride(frames)
	blocks := parts(frames, queryRows)
	head, from := i/blocks, i%blocks*queryRows
	rows := min(queryRows, frames-from)

	scores := gemm.Product{
		C: w.scores, StrideC: stride,
		A: a.w.wide[from*3*s.Width+head*size:], StrideA: 3 * s.Width,
		Rows: rows, B: &a.w.keys[head],
	}
	for block := range scores.Blocks() {
		scores.Block(block, &w.gemm)
	}
	for r := range rows {
		w.sums[r] = simd.Softmax(w.scores[r*stride:][:frames])
	}
	out := gemm.Product{
		C: a.w.Y[from*s.Width+head*size:], StrideC: s.Width,
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
			gemm.Pair(a.w.normed.X[at/2:][:size/2], row)
		}
	}
}

// Attend computes the outputs of the heads into Y from the queries, keys and values
// of the last product of a QKV, without a mask.
func (w *Workspace) Attend() {
	w.pack = pack{w}
	w.crew.run(&w.pack, w.sizes.Heads)
	w.attend = attend{w}
	w.crew.run(&w.attend, w.sizes.Heads*parts(w.frames, queryRows))
}
