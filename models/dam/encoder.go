package dam

import (
	"context"

	"github.com/voicescreen/voicescreen/models/internal/nn/gemm"
)

// epsilon is added to the variance in layer normalisation.
const epsilon = 1e-5

// linear is a layer y = x·Wᵀ + b, packed.
type linear struct {
	weight gemm.Matrix
	bias   []float32
}

// layerNorm scales and shifts normalised rows.
type layerNorm struct{ weight, bias []float32 }

// layer is one layer of an encoder.
type layer struct {
	attentionNorm layerNorm
	qkv           linear // queries, scaled by 1/√(Width/Heads), keys and values
	out           linear
	innerNorm     layerNorm
	fc1, fc2      linear
}

// encoder is the encoder of Whisper (Radford et al. 2022).
type encoder struct {
	shape        Shape
	conv1, conv2 linear // inputs in the order tap, channel
	positions    []float32
	layers       []layer
	norm         layerNorm
}

// run computes the encoder's output for the spectrum in w into w.y, and its mean
// over time into dst, of Width numbers. After the end of ctx it returns the error
// of ctx within the time of a layer.
func (e *encoder) run(ctx context.Context, w *workspace, dst []float32) error {
	s := e.shape
	e.convolve(w)
	w.addPositions(e.positions)
	for i := range e.layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		e.layers[i].run(w, s)
	}
	w.normalize(&e.norm)
	w.mean(dst)
	return nil
}

// convolve computes the residual stream from the spectrum in w.mel. Frames lie
// one after the other, so three of them are one row of the left factor of the
// convolution.
func (e *encoder) convolve(w *workspace) {
	s := e.shape
	w.multiply(gemm.Product{
		C: w.conv[s.Width:], StrideC: s.Width, A: w.spectrum.x, StrideA: w.spectrum.stride, Rows: 2 * s.Frames,
		B: &e.conv1.weight, Bias: e.conv1.bias, After: w.afterConv1,
	})
	w.multiply(gemm.Product{
		C: w.x, StrideC: s.Width, A: w.convolved.x, StrideA: w.convolved.stride, Rows: s.Frames,
		B: &e.conv2.weight, Bias: e.conv2.bias, After: gelu,
	})
}

// run applies the layer to the residual stream.
func (l *layer) run(w *workspace, s Shape) {
	w.normalize(&l.attentionNorm)
	w.multiply(gemm.Product{
		C: w.wide, StrideC: 3 * s.Width, A: w.normed.x, StrideA: w.normed.stride, Rows: s.Frames,
		B: &l.qkv.weight, Bias: l.qkv.bias,
	})
	w.attention(s)
	w.multiply(gemm.Product{
		C: w.x, StrideC: s.Width, A: w.normed.x, StrideA: w.normed.stride, Rows: s.Frames,
		B: &l.out.weight, Bias: l.out.bias, Add: true,
	})
	w.normalize(&l.innerNorm)
	w.multiply(gemm.Product{
		C: w.wide, StrideC: s.Inner, A: w.normed.x, StrideA: w.normed.stride, Rows: s.Frames,
		B: &l.fc1.weight, Bias: l.fc1.bias, After: w.afterInner,
	})
	w.multiply(gemm.Product{
		C: w.x, StrideC: s.Width, A: w.inner.x, StrideA: w.inner.stride, Rows: s.Frames,
		B: &l.fc2.weight, Bias: l.fc2.bias, Add: true,
	})
}
