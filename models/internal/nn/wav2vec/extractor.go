package wav2vec

import (
	"context"
	"math"

	"github.com/voicescreen/voicescreen/models/internal/nn"
	"github.com/voicescreen/voicescreen/models/internal/nn/gemm"
	"github.com/voicescreen/voicescreen/models/internal/nn/simd"
)

// convolution is a layer of the feature extractor. Frames lie one after the other, so
// kernel of them are one row of the left factor of a product, without a copy.
type convolution struct {
	kernel, stride int
	linear         nn.Linear // inputs in the order tap, channel
	norm           nn.Norm   // of no numbers for none
}

// chunkFrames is the number of frames that the extractor computes at a time, through
// all its convolutions, so that its memory does not grow with the clip: 13 MB instead
// of 128 MB for 13 s. The frames between two chunks are computed twice, 0.4 % of the
// first convolution. Chosen: with 32 to 128 the time is the same.
const chunkFrames = 64

// rowsFor returns how many frames of the output of convolution i are needed for so many
// frames of the features.
func (s *Shape) rowsFor(i, frames int) int {
	for j := len(s.Kernels) - 1; j > i; j-- {
		frames = (frames-1)*s.Strides[j] + s.Kernels[j]
	}
	return frames
}

// extract computes the features of the samples in w.input, normalises and projects
// them into w.X.
func (n *Network) extract(ctx context.Context, w *workspace, samples int) error {
	s := &n.shape
	x := w.input[:samples]
	first := &n.convolutions[0].linear
	if s.ConvNorm == GroupNorm {
		n.foldFirst(w, x)
		first = &w.first
	}
	hop := 1 // samples between two frames of the features
	for _, stride := range s.Strides {
		hop *= stride
	}
	frames := s.Frames(samples)
	w.SetFrames(frames)
	for from := 0; from < frames; from += chunkFrames {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows := min(chunkFrames, frames-from)
		y := n.convolve(w, first, x[from*hop:], rows)
		if w.trace != nil {
			w.trace("features", 0, y)
		}
		z := w.features[len(n.convolutions)%2][:len(y)]
		w.NormalizeRows(z, y, &n.featureNorm)
		w.Multiply(gemm.Product{
			C: w.X[from*s.Width:], StrideC: s.Width, A: z, StrideA: s.Channels, Rows: rows,
			B: &n.projection.Weight, Bias: n.projection.Bias,
		})
	}
	return nil
}

// convolve computes so many frames of the features of the samples x.
func (n *Network) convolve(w *workspace, first *nn.Linear, x []float32, frames int) []float32 {
	s, width := &n.shape, 1
	for i := range n.convolutions {
		c, rows := &n.convolutions[i], s.rowsFor(i, frames)
		linear, normalised := &c.linear, s.ConvNorm == LayerNorm
		if i == 0 {
			linear = first
		}
		p := gemm.Product{
			C: w.features[i%2], StrideC: s.Channels, A: x, StrideA: c.stride * width, Rows: rows,
			B: &linear.Weight, Bias: linear.Bias,
		}
		if !normalised {
			p.After = nn.GELU
		}
		w.Multiply(p)
		x, width = w.features[i%2][:rows*s.Channels], s.Channels
		if normalised {
			w.NormalizeRows(x, x, &c.norm)
			w.gelu(x)
		}
	}
	return x
}

// foldFirst writes the first convolution with its normalisation to w.first. GroupNorm
// normalises each channel over time (Wu and He 2018, "Group normalization", with a
// channel for a group). With the mean m and the covariance C of the taps over all
// frames of x, the output y = a·x + b of a channel has the mean a·m + b and the variance
// aᵀ·C·a, so that its normalised output is another convolution of x.
func (n *Network) foldFirst(w *workspace, x []float32) {
	s, c := &n.shape, &n.convolutions[0]
	k := c.kernel
	mean, covariance := w.tapMoments(x, k, c.stride)
	for o := range s.Channels {
		a, sum, variance := n.first[o*k:][:k], 0.0, 0.0
		for i, ai := range a {
			sum += float64(ai) * mean[i]
			for j, aj := range a {
				variance += float64(ai) * float64(aj) * covariance[i*k+j]
			}
		}
		scale := float64(c.norm.Weight[o]) / math.Sqrt(max(variance, 0)+nn.Epsilon)
		for i, v := range a {
			w.folded[o*k+i] = float32(float64(v) * scale)
		}
		w.first.Bias[o] = float32(float64(c.norm.Bias[o]) - sum*scale) // the layer's own bias is in the mean, too
	}
	w.first.Weight.PackTransposed(w.folded, k, s.Channels, k)
}

// momentParts is the number of parts of the samples whose moments are computed at the same
// time. It does not depend on the number of goroutines, and so neither do the sums.
const momentParts = 16

// moments are sums over a part of the frames.
type moments struct {
	first  [maxKernel]float64
	second [maxKernel * maxKernel]float64
}

// tapMoments returns the mean and the covariance [taps, taps] of the taps of a
// convolution over all frames of x.
func (w *workspace) tapMoments(x []float32, taps, stride int) (mean, covariance []float64) {
	mean, covariance = make([]float64, taps), make([]float64, taps*taps)
	frames := (len(x)-taps)/stride + 1
	if w.moments == nil {
		w.moments = make([]moments, momentParts)
	}
	each := func(f func(m *moments, from, to int)) {
		w.Each(momentParts, func(i int) { f(&w.moments[i], frames*i/momentParts, frames*(i+1)/momentParts) })
	}
	each(func(m *moments, from, to int) {
		sums := m.first[:taps]
		clear(sums)
		for t := from; t < to; t++ {
			for i, v := range x[t*stride:][:len(sums)] {
				sums[i] += float64(v)
			}
		}
	})
	for k := range w.moments {
		for i, v := range w.moments[k].first[:taps] {
			mean[i] += v / float64(frames)
		}
	}
	each(func(m *moments, from, to int) {
		row, sums := m.first[:taps], m.second[:taps*taps]
		clear(sums)
		for t := from; t < to; t++ {
			for i, v := range x[t*stride:][:len(row)] {
				row[i] = float64(v) - mean[i]
			}
			for i, v := range row {
				c := sums[i*taps:][:i+1]
				for j := range c {
					c[j] += v * row[j]
				}
			}
		}
	})
	for k := range w.moments {
		for i, v := range w.moments[k].second[:taps*taps] {
			covariance[i] += v / float64(frames)
		}
	}
	for i := range taps {
		for j := range i {
			covariance[j*taps+i] = covariance[i*taps+j]
		}
	}
	return mean, covariance
}

// geluAtOnce is the numbers of a part of gelu. Chosen: 128 kB.
const geluAtOnce = 1 << 15

// gelu applies GELU to x.
func (w *workspace) gelu(x []float32) {
	w.Each((len(x)+geluAtOnce-1)/geluAtOnce, func(i int) {
		simd.GELU(x[i*geluAtOnce : min(len(x), (i+1)*geluAtOnce)])
	})
}
