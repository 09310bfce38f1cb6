package wav2vec

import (
	"github.com/voicescreen/voicescreen/models/internal/nn"
	"github.com/voicescreen/voicescreen/models/internal/nn/gemm"
)

// workspace holds the activations of one clip.
type workspace struct {
	*nn.Workspace
	shape *Shape

	input    []float32    // the normalised samples
	folded   []float32    // [Channels, kernel], with GroupNorm
	first    nn.Linear    // the first convolution with its normalisation, with GroupNorm
	features [2][]float32 // of the convolutions, in turns: [frames, Channels]
	grouped  []float32    // [PositionGroups, frames + PositionTaps, Width/PositionGroups]
	mean     []float64    // [Width]

	positions []gemm.Product // one for each group
	moments   []moments      // of parts of the samples, with GroupNorm

	trace func(step string, i int, x []float32) // in tests
}

func newWorkspace(n *Network) *workspace {
	s := &n.shape
	frames := s.Frames(n.samples)
	w := &workspace{
		Workspace: nn.NewWorkspace(nn.Sizes{Frames: frames, Width: s.Width, Heads: s.Heads, Inner: s.Inner}, n.threads, false),
		shape:     s,
		input:     make([]float32, n.samples),
		grouped:   make([]float32, (frames+s.PositionTaps)*s.Width),
		mean:      make([]float64, s.Width),
		positions: make([]gemm.Product, s.PositionGroups),
	}
	if s.ConvNorm == GroupNorm {
		w.folded = make([]float32, s.Channels*s.Kernels[0])
		w.first.Bias = make([]float32, s.Channels)
	}
	chunk := min(chunkFrames, frames)
	for i := range w.features { // later layers have fewer rows
		w.features[i] = make([]float32, s.rowsFor(min(i, len(s.Kernels)-1), chunk)*s.Channels)
	}
	return w
}

// report calls trace with the residual stream.
func (w *workspace) report(step string, i int) {
	if w.trace != nil {
		w.trace(step, i, w.X)
	}
}

// embed adds the convolution of the residual stream for the positions to it. With an
// even number of taps, its last frame is left out.
func (n *Network) embed(w *workspace) {
	s := &n.shape
	w.report("projected", 0)
	size, frames := s.Width/s.PositionGroups, len(w.X)/s.Width
	rows := frames + s.PositionTaps // of a group
	clear(w.grouped[:rows*s.Width])
	w.Each(s.PositionGroups, func(group int) {
		to := w.grouped[(group*rows+s.PositionTaps/2)*size:]
		for t := range frames {
			copy(to[t*size:][:size], w.X[t*s.Width+group*size:])
		}
	})
	for group := range n.positions {
		w.positions[group] = gemm.Product{
			C: w.Y[group*size:], StrideC: s.Width, A: w.grouped[group*rows*size:], StrideA: size, Rows: frames,
			B: &n.positions[group].Weight, Bias: n.positions[group].Bias, After: nn.GELU,
		}
	}
	w.MultiplyAll(w.positions)
	w.Add(w.Y)
}

// addMean adds the mean over time of x [frames, Width] times weight to w.mean.
func (w *workspace) addMean(x []float32, weight float64) {
	if weight == 0 {
		return
	}
	width := w.shape.Width
	weight /= float64(len(x) / width)
	for at := 0; at < len(x); at += width {
		for j, v := range x[at:][:width] {
			w.mean[j] += weight * float64(v)
		}
	}
}
