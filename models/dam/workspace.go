package dam

import (
	"github.com/voicescreen/voicescreen/models/internal/nn"
	"github.com/voicescreen/voicescreen/models/internal/nn/gemm"
	"github.com/voicescreen/voicescreen/models/internal/nn/simd"
)

// workspace holds the activations of one chunk. At the published shape it takes
// 47 MB, and 0.3 MB for each goroutine: input and output of the convolutions
// (10 MB), and what the layers need (36 MB). Pairs of bfloat16 add 16 MB.
type workspace struct {
	*nn.Workspace
	paired bool

	mel  []float32 // [2·Frames+2, Mels], a frame of zeros at both ends
	conv []float32 // [2·Frames+2, Width], the same

	// The left factors of the convolutions: the arrays above, or pairs of
	// bfloat16 in an array of their own.
	spectrum, convolved nn.Operand
	afterConv1          gemm.After

	sums []float64 // [Width]
}

func newWorkspace(s Shape, threads int, paired bool) *workspace {
	w := &workspace{
		Workspace:  nn.NewWorkspace(nn.Sizes{Frames: s.Frames, Width: s.Width, Heads: s.Heads, Inner: s.Inner}, threads, paired),
		paired:     paired,
		mel:        make([]float32, (2*s.Frames+2)*s.Mels),
		conv:       make([]float32, (2*s.Frames+2)*s.Width),
		sums:       make([]float64, s.Width),
		afterConv1: nn.GELU,
	}
	w.spectrum, w.convolved = nn.Operand{X: w.mel, Stride: s.Mels}, nn.Operand{X: w.conv, Stride: 2 * s.Width}
	if !paired {
		return w
	}
	w.spectrum.Stride /= 2
	w.convolved = nn.Operand{X: make([]float32, len(w.conv)/2), Stride: s.Width}
	w.afterConv1 = func(part []float32, m, n int) {
		simd.GELU(part)
		gemm.Pair(w.convolved.X[((m+1)*s.Width+n)/2:][:len(part)/2], part)
	}
	return w
}

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

// mean writes the mean of the rows of Y to dst.
func (w *workspace) mean(dst []float32) {
	clear(w.sums)
	width := len(w.sums)
	for r := 0; r < len(w.Y); r += width {
		for j, v := range w.Y[r:][:width] {
			w.sums[j] += float64(v)
		}
	}
	for j, sum := range w.sums {
		dst[j] = float32(sum / float64(len(w.Y)/width))
	}
}
