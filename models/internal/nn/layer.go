package nn

import "github.com/voicescreen/voicescreen/models/internal/nn/gemm"

// Epsilon is added to the variance in layer normalisation.
const Epsilon = 1e-5

// Linear is a layer y = x·Wᵀ + b, packed.
type Linear struct {
	Weight gemm.Matrix
	Bias   []float32
}

// Norm scales and shifts normalised rows: layer normalisation (Ba, Kiros and Hinton
// 2016).
type Norm struct{ Weight, Bias []float32 }

// Layer is one layer of an encoder.
type Layer struct {
	AttentionNorm Norm
	QKV           Linear // queries, scaled by 1/√(Width/Heads), keys and values
	Out           Linear
	InnerNorm     Norm
	FC1, FC2      Linear
}

// RunNormFirst applies a layer that normalises the inputs of its two parts to X (the
// order of GPT-2 and Whisper, "pre-norm"):
//
//	x ← x + attention(norm(x)),  x ← x + inner(norm(x))
func (w *Workspace) RunNormFirst(l *Layer) {
	s := &w.sizes
	w.Normalize(&l.AttentionNorm)
	w.Multiply(gemm.Product{
		C: w.wide, StrideC: 3 * s.Width, A: w.normed.X, StrideA: w.normed.Stride, Rows: w.frames,
		B: &l.QKV.Weight, Bias: l.QKV.Bias,
	})
	w.Attend()
	w.Multiply(gemm.Product{
		C: w.X, StrideC: s.Width, A: w.normed.X, StrideA: w.normed.Stride, Rows: w.frames,
		B: &l.Out.Weight, Bias: l.Out.Bias, Add: true,
	})
	w.Normalize(&l.InnerNorm)
	w.inner(l, w.normed)
}

// RunNormLast applies a layer that normalises the sums of its two parts to X (the
// order of BERT and of the original transformer, "post-norm"):
//
//	x ← norm(x + attention(x)),  x ← norm(x + inner(x))
//
// It panics if the workspace has pairs.
func (w *Workspace) RunNormLast(l *Layer) {
	if w.paired {
		panic("nn: pairs in a layer that normalises last")
	}
	s := &w.sizes
	x := Operand{w.X, s.Width}
	w.Multiply(gemm.Product{
		C: w.wide, StrideC: 3 * s.Width, A: x.X, StrideA: x.Stride, Rows: w.frames,
		B: &l.QKV.Weight, Bias: l.QKV.Bias,
	})
	w.Attend()
	w.Multiply(gemm.Product{
		C: w.X, StrideC: s.Width, A: w.normed.X, StrideA: w.normed.Stride, Rows: w.frames,
		B: &l.Out.Weight, Bias: l.Out.Bias, Add: true,
	})
	w.NormalizeRows(w.X, w.X, &l.AttentionNorm)
	w.inner(l, x)
	w.NormalizeRows(w.X, w.X, &l.InnerNorm)
}

// inner adds the result of the feed-forward part for the left factor x to X.
func (w *Workspace) inner(l *Layer, x Operand) {
	s := &w.sizes
	w.Multiply(gemm.Product{
		C: w.wide, StrideC: s.Inner, A: x.X, StrideA: x.Stride, Rows: w.frames,
		B: &l.FC1.Weight, Bias: l.FC1.Bias, After: w.afterInner,
	})
	w.Multiply(gemm.Product{
		C: w.X, StrideC: s.Width, A: w.hidden.X, StrideA: w.hidden.Stride, Rows: w.frames,
		B: &l.FC2.Weight, Bias: l.FC2.Bias, Add: true,
	})
}
