package wav2vec

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/voicescreen/voicescreen/models/internal/nn"
)

// ErrNotFinite is wrapped by the error about a sample, or a result of the network,
// that is not finite.
var ErrNotFinite = errors.New("a number is not finite")

// Options are the choices of a Network.
type Options struct {
	Samples int // of the longest clip, at least the receptive field
	Threads int // goroutines for one clip; the default is GOMAXPROCS
	Clips   int // clips at the same time; further calls wait. The default is 1

	// Int8 rounds both factors of the products of the layers, of the projection and of
	// all convolutions but the first and that for the positions to integers of eight
	// bits, with a scale for each output and for each frame. Weights take a quarter of
	// the memory then.
	Int8 bool
}

// Network is a network of a shape, ready to run. It is safe for concurrent use.
type Network struct {
	shape   Shape
	samples int
	threads int
	int8    bool // see Options.Int8

	first        []float32 // weight of the first convolution [Channels, kernel], with GroupNorm
	convolutions []convolution
	featureNorm  nn.Norm
	projection   nn.Linear
	positions    []nn.Linear // one for each group
	layers       []nn.Layer
	norm         nn.Norm
	layerWeights []float32 // with Shape.WeightedSum
	mix          []float64 // the weights of the hidden states in the mean
	head         []dense

	slots chan *workspace // one for each clip at a time; nil before its first use
}

// NewNetwork reads every tensor of shape once, in the order of Shape.Tensors, and
// returns the network. The error wraps that of read, or tensorfile.ErrWeights if a
// weight is not finite or the shape is invalid. It panics if opts.Samples are too few
// for a frame.
func NewNetwork(shape Shape, read func(dst []float32, name string, dims []int) error, opts Options) (*Network, error) {
	n, err := prepare(shape, opts)
	if err != nil {
		return nil, err
	}
	if err := n.load(read); err != nil {
		return nil, err
	}
	n.finish()
	return n, nil
}

// prepare returns a network without weights.
func prepare(shape Shape, opts Options) (*Network, error) {
	if err := shape.Check(); err != nil {
		return nil, err
	}
	if shape.Frames(opts.Samples) < 1 {
		panic("wav2vec: clips too short for a frame")
	}
	n := &Network{shape: shape, samples: opts.Samples, threads: opts.Threads, int8: opts.Int8}
	if n.threads < 1 {
		n.threads = runtime.GOMAXPROCS(0)
	}
	n.slots = make(chan *workspace, max(1, opts.Clips))
	for range cap(n.slots) {
		n.slots <- nil
	}
	n.allocate()
	return n, nil
}

// Shape returns the network's shape.
func (n *Network) Shape() Shape { return n.shape }

// Int8 reports whether the network was made with Options.Int8.
func (n *Network) Int8() bool { return n.int8 }

// Logits returns the classifier's outputs for the samples x, mono at 16 kHz, one for
// each class. Logits does not change x. It panics if x has more than Options.Samples
// or too few for a frame.
//
// Logits waits while Options.Clips clips are in work. After the end of ctx it returns
// the error of ctx within the time of a layer. The error wraps ErrNotFinite if a sample
// or a result is not finite.
func (n *Network) Logits(ctx context.Context, x []float32) ([]float64, error) {
	if len(x) > n.samples || n.shape.Frames(len(x)) < 1 {
		panic(fmt.Sprintf("wav2vec: %d samples, want at most %d, and a frame", len(x), n.samples))
	}
	w, err := n.take(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { n.slots <- w }()
	if err := n.normalize(w.input[:len(x)], x); err != nil {
		return nil, err
	}
	if err := n.encode(ctx, w, len(x)); err != nil {
		return nil, err
	}
	y := w.mean
	for _, d := range n.head {
		y = d.apply(y)
	}
	for _, v := range y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%w: in the result", ErrNotFinite)
		}
	}
	return y, nil
}

// take waits for a workspace.
func (n *Network) take(ctx context.Context) (*workspace, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case w := <-n.slots:
		if w == nil {
			w = newWorkspace(n)
		}
		return w, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// normalize writes (x − mean)/√(variance + InputEpsilon) to dst, or x if the epsilon
// is 0.
func (n *Network) normalize(dst, x []float32) error {
	sum, squares := 0.0, 0.0
	for _, v := range x {
		sum += float64(v)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return fmt.Errorf("%w: in the samples", ErrNotFinite)
	}
	mean, scale := sum/float64(len(x)), 1.0
	for _, v := range x {
		squares += (float64(v) - mean) * (float64(v) - mean)
	}
	if n.shape.InputEpsilon == 0 {
		copy(dst, x)
		return nil
	}
	scale = 1 / math.Sqrt(squares/float64(len(x))+n.shape.InputEpsilon)
	for i, v := range x {
		dst[i] = float32((float64(v) - mean) * scale)
	}
	return nil
}

// encode computes the weighted mean over time of the hidden states of so many samples
// into w.mean.
func (n *Network) encode(ctx context.Context, w *workspace, samples int) error {
	s := &n.shape
	if err := n.extract(ctx, w, samples); err != nil {
		return err
	}
	n.embed(w)
	if !s.NormFirst {
		w.NormalizeRows(w.X, w.X, &n.norm)
	}
	clear(w.mean)
	w.addMean(w.X, n.mix[0])
	for i := range n.layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		w.report("layer", i)
		if s.NormFirst {
			w.RunNormFirst(&n.layers[i])
		} else {
			w.RunNormLast(&n.layers[i])
		}
		if i == len(n.layers)-1 && s.NormFirst {
			w.NormalizeRows(w.X, w.X, &n.norm)
		}
		w.addMean(w.X, n.mix[i+1])
	}
	w.report("layer", len(n.layers))
	return nil
}
