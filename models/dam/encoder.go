package dam

import (
	"context"

	"github.com/voicescreen/voicescreen/models/internal/nn"
	"github.com/voicescreen/voicescreen/models/internal/nn/gemm"
)

// encoder is the encoder of Whisper (Radford et al. 2022).
type encoder struct {
	shape        Shape
	conv1, conv2 nn.Linear // inputs in the order tap, channel
	positions    []float32
	layers       []nn.Layer
	norm         nn.Norm
}

// run computes the encoder's output for the spectrum in w into w.Y, and its mean
// over time into dst, of Width numbers. After the end of ctx it returns the error
// of ctx within the time of a layer.
func (e *encoder) run(ctx context.Context, w *workspace, dst []float32) error {
	e.convolve(w)
	w.Add(e.positions)
	for i := range e.layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		w.RunNormFirst(&e.layers[i])
	}
	w.Normalize(&e.norm)
	w.mean(dst)
	return nil
}

// convolve computes the residual stream from the spectrum in w.mel. Frames lie
// one after the other, so three of them are one row of the left factor of the
// convolution.
func (e *encoder) convolve(w *workspace) {
	s := e.shape
	w.Multiply(gemm.Product{
		C: w.conv[s.Width:], StrideC: s.Width, A: w.spectrum.X, StrideA: w.spectrum.Stride, Rows: 2 * s.Frames,
		B: &e.conv1.Weight, Bias: e.conv1.Bias, After: w.afterConv1,
	})
	w.Multiply(gemm.Product{
		C: w.X, StrideC: s.Width, A: w.convolved.X, StrideA: w.convolved.Stride, Rows: s.Frames,
		B: &e.conv2.Weight, Bias: e.conv2.Bias, After: nn.GELU,
	})
}
