package dam

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/voicescreen/voicescreen/models/internal/nn/gemm"
	"github.com/voicescreen/voicescreen/models/internal/nn/simd"
)

// ErrNotFinite is wrapped by the error about a spectrum, or a result of the
// network, with a number that is not finite.
var ErrNotFinite = errors.New("dam: a number is not finite")

// Options are the choices of a [Network]. Zero fields mean the default.
type Options struct {
	Threads int // goroutines for one chunk; the default is GOMAXPROCS
	Chunks  int // chunks at the same time, each with 48 MB of activations (64 MB with BFloat16); further calls wait. The default is 1

	// BFloat16 halves the memory of weights and rounds the factors of products to
	// 8 bits of precision; sums and attention stay float32. It has an effect only
	// on processors with instructions for it (see [Network.BFloat16]).
	BFloat16 bool

	// Int8 rounds both factors of the products of the layers and of the second
	// convolution to integers of eight bits, with a scale for each output and for each
	// frame: weights take a quarter of the memory, and a chunk about half of the time on
	// processors with instructions for it. DAM.md says how much scores change. BFloat16
	// has no effect then.
	Int8 bool
}

// Network is DAM, ready to run. It is safe for concurrent use.
type Network struct {
	shape    Shape
	threads  int
	paired   bool // weights and activations are multiplied in bfloat16
	int8     bool // see Options.Int8
	encoders [len(encoders)]encoder
	head     head
	slots    chan *workspace // one workspace for each chunk at a time; nil before its first use
}

// Scores are the raw scores of the network. Each rises with the expected sum of
// its questionnaire; the unit has no meaning.
type Scores struct {
	Depression float64 // PHQ-9
	Anxiety    float64 // GAD-7
}

// NewNetwork reads every tensor of shape once, in the order of
// [Shape.Tensors], and returns the network. It wraps errors of read. The error
// wraps [ErrWeights] if a weight is not finite or the shape is invalid.
func NewNetwork(shape Shape, read TensorReader, opts *Options) (*Network, error) {
	if opts == nil {
		opts = &Options{}
	}
	if err := shape.check(); err != nil {
		return nil, err
	}
	n, err := load(shape, read, opts.BFloat16 && !opts.Int8 && gemm.FastPairs() && shape.isEven(), opts.Int8)
	if err != nil {
		return nil, err
	}
	n.start(opts)
	return n, nil
}

// start sets what a network needs besides its weights.
func (n *Network) start(opts *Options) {
	n.threads = opts.Threads
	if n.threads < 1 {
		n.threads = runtime.GOMAXPROCS(0)
	}
	n.slots = make(chan *workspace, max(1, opts.Chunks))
	for range cap(n.slots) {
		n.slots <- nil
	}
}

// Shape returns the network's shape.
func (n *Network) Shape() Shape { return n.shape }

// BFloat16 reports whether the network multiplies in bfloat16: Options.BFloat16 is
// set, the processor has AVX512_BF16, and the sizes of the shape are even.
func (n *Network) BFloat16() bool { return n.paired }

// Int8 reports whether the network was made with Options.Int8.
func (n *Network) Int8() bool { return n.int8 }

// Embed runs both encoders over one chunk. It writes the means of their outputs
// over time, 2·Width numbers, first of audio and then of llma, to dst and returns
// dst; a nil dst is allocated. mel is the log-mel spectrum of the chunk
// [Mels × 2·Frames], band after band, normalised as in training; Embed does not
// change it. It panics if a slice has another length.
//
// Embed waits while Options.Chunks chunks are in work. After the end of ctx it
// returns the error of ctx within a few hundredths of the time of a chunk. The
// error wraps [ErrNotFinite] if a number of the spectrum is not finite.
func (n *Network) Embed(ctx context.Context, dst, mel []float32) ([]float32, error) {
	width := n.shape.Width
	if dst == nil {
		dst = make([]float32, len(encoders)*width)
	}
	if want := n.shape.Mels * 2 * n.shape.Frames; len(dst) != len(encoders)*width || len(mel) != want {
		panic(fmt.Sprintf("dam: embedding of %d from %d numbers, want %d from %d", len(dst), len(mel), len(encoders)*width, want))
	}
	if err := checkFinite("spectrum", mel); err != nil {
		return nil, err
	}
	w, err := n.take(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { n.slots <- w }()
	w.setMel(mel, n.shape.Mels)
	for i := range n.encoders {
		if err := n.encoders[i].run(ctx, w, dst[i*width:(i+1)*width]); err != nil {
			return nil, err
		}
	}
	return dst, checkFinite("embedding", dst)
}

// take waits for a workspace.
func (n *Network) take(ctx context.Context) (*workspace, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case w := <-n.slots:
		if w == nil {
			w = newWorkspace(n.shape, n.threads, n.paired)
		}
		return w, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func checkFinite(what string, x []float32) error {
	if sum := float64(simd.Sum(x)); math.IsNaN(sum) || math.IsInf(sum, 0) {
		return fmt.Errorf("%w: in the %s", ErrNotFinite, what)
	}
	return nil
}

// Score runs the head over an embedding: the mean of the results of
// [Network.Embed] over the chunks of a recording. It panics if the length is not
// 2·Width.
func (n *Network) Score(embedding []float32) Scores {
	if len(embedding) != len(encoders)*n.shape.Width {
		panic(fmt.Sprintf("dam: embedding of %d numbers, want %d", len(embedding), len(encoders)*n.shape.Width))
	}
	scores := n.head.score(embedding)
	return Scores{Depression: scores[0], Anxiety: scores[1]}
}
