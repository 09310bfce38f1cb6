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

// workspace holds the activations of one clip.
type workspace struct {
	*nn.Workspace
	shape *Shape

	input    []float32    // the normalised samples
	features [2][]float32 // of the convolutions, in turns: [frames, Channels]
	grouped  []float32    // [PositionGroups, frames + PositionTaps, Width/PositionGroups]
	mean     []float64    // [Width]

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
	}
	rows := n.samples
	for i, k := range s.Kernels[:min(2, len(s.Kernels))] { // later layers have fewer rows
		rows = (rows-k)/s.Strides[i] + 1
		w.features[i] = make([]float32, rows*s.Channels)
	}
	if len(s.Kernels) == 1 {
		w.features[1] = make([]float32, rows*s.Channels)
	}
	return w
}

// report calls trace with the residual stream.
func (w *workspace) report(step string, i int) {
	if w.trace != nil {
		w.trace(step, i, w.X)
	}
}

// extract computes the features of the samples in w.input, normalises and projects
// them into w.X.
func (n *Network) extract(ctx context.Context, w *workspace, samples int) error {
	s := &n.shape
	x, rows, width := w.input[:samples], samples, 1
	for i := range n.convolutions {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := &n.convolutions[i]
		rows = (rows-c.kernel)/c.stride + 1
		p := gemm.Product{
			C: w.features[i%2], StrideC: s.Channels, A: x, StrideA: c.stride * width, Rows: rows,
			B: &c.linear.Weight, Bias: c.linear.Bias,
		}
		if c.norm.Weight == nil {
			p.After = nn.GELU
		}
		w.Multiply(p)
		x, width = w.features[i%2][:rows*s.Channels], s.Channels
		switch {
		case c.norm.Weight == nil:
		case s.ConvNorm == GroupNorm:
			w.normalizeChannels(x, &c.norm)
		default:
			w.NormalizeRows(x, x, &c.norm)
			w.gelu(x)
		}
	}
	if w.trace != nil {
		w.trace("features", 0, x)
	}
	w.SetFrames(rows)
	y := w.features[len(n.convolutions)%2][:len(x)]
	w.NormalizeRows(y, x, &n.featureNorm)
	w.Multiply(gemm.Product{
		C: w.X, StrideC: s.Width, A: y, StrideA: s.Channels, Rows: rows,
		B: &n.projection.Weight, Bias: n.projection.Bias,
	})
	return nil
}

// geluAtOnce is the numbers of a part of gelu. Chosen: 128 kB.
const geluAtOnce = 1 << 15

// gelu applies GELU to x.
func (w *workspace) gelu(x []float32) {
	w.Each((len(x)+geluAtOnce-1)/geluAtOnce, func(i int) {
		simd.GELU(x[i*geluAtOnce : min(len(x), (i+1)*geluAtOnce)])
	})
}

// channelsAtOnce is the number of channels that one part of normalizeChannels
// normalises: a cache line.
const channelsAtOnce = 16

// normalizeChannels normalises each channel of x [frames, Channels] over time, with
// sums in float64, and applies GELU (Wu and He 2018, "Group normalization", with a
// channel for a group).
func (w *workspace) normalizeChannels(x []float32, by *nn.Norm) {
	width := w.shape.Channels
	frames := float64(len(x) / width)
	w.Each((width+channelsAtOnce-1)/channelsAtOnce, func(part int) {
		from, to := part*channelsAtOnce, min(width, (part+1)*channelsAtOnce)
		var mean, variance [channelsAtOnce]float64
		for at := 0; at < len(x); at += width {
			for j, v := range x[at+from : at+to] {
				mean[j] += float64(v) / frames
			}
		}
		for at := 0; at < len(x); at += width {
			for j, v := range x[at+from : at+to] {
				variance[j] += (float64(v) - mean[j]) * (float64(v) - mean[j]) / frames
			}
		}
		for at := 0; at < len(x); at += width {
			row := x[at+from : at+to]
			for j, v := range row {
				row[j] = float32((float64(v)-mean[j])/math.Sqrt(variance[j]+nn.Epsilon))*by.Weight[from+j] + by.Bias[from+j]
			}
			simd.GELU(row)
		}
	})
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
		w.Multiply(gemm.Product{
			C: w.Y[group*size:], StrideC: s.Width, A: w.grouped[group*rows*size:], StrideA: size, Rows: frames,
			B: &n.positions[group].Weight, Bias: n.positions[group].Bias, After: nn.GELU,
		})
	}
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
