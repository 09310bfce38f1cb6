package dam

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/voicescreen/voicescreen/models/dam/internal/gemm"
	"github.com/voicescreen/voicescreen/models/dam/internal/simd"
)

// ErrNotFinite says that a spectrum has a number that is not finite, or that
// the network's result has.
var ErrNotFinite = errors.New("dam: a number is not finite")

// Options are the choices of a [Network]. Zero fields mean the default.
type Options struct {
	Threads int // goroutines that work on one chunk; the default is GOMAXPROCS
	Chunks  int // chunks that are worked on at once, each with 48 MB of activations (64 MB with BFloat16); others wait. The default is 1

	// BFloat16 keeps weights in half the memory and multiplies with 8 bits of
	// precision in each factor, sums and attention in float32, where the
	// processor has instructions for that (see [Network.BFloat16]).
	BFloat16 bool
}

// Network is DAM, ready to run. It is safe for concurrent use.
type Network struct {
	shape    Shape
	threads  int
	paired   bool // weights and activations are multiplied in bfloat16
	encoders [len(encoders)]encoder
	head     head
	slots    chan *workspace // a token for each chunk at once; nil before its first use
}

// Scores are the network's raw scores, monotone in what the questionnaire of
// the condition would give.
type Scores struct {
	Depression float64 // PHQ-9
	Anxiety    float64 // GAD-7
}

// NewNetwork reads every tensor of shape once, in the order of
// [Shape.Tensors], and returns the network. Errors of read come back wrapped;
// numbers that are not finite and a shape that no network has are an error that
// wraps [ErrWeights].
func NewNetwork(shape Shape, read TensorReader, opts *Options) (*Network, error) {
	if opts == nil {
		opts = &Options{}
	}
	if err := shape.check(); err != nil {
		return nil, err
	}
	n, err := load(shape, read, opts.BFloat16 && gemm.FastPairs() && shape.isEven())
	if err != nil {
		return nil, err
	}
	n.threads = opts.Threads
	if n.threads < 1 {
		n.threads = runtime.GOMAXPROCS(0)
	}
	n.slots = make(chan *workspace, max(1, opts.Chunks))
	for range cap(n.slots) {
		n.slots <- nil
	}
	return n, nil
}

// Shape is the network's shape.
func (n *Network) Shape() Shape { return n.shape }

// BFloat16 says whether the network multiplies in bfloat16: it was asked for,
// the processor has AVX512_BF16, and the shape has no odd size.
func (n *Network) BFloat16() bool { return n.paired }

// Embed runs both encoders over one chunk and writes the means of their outputs
// over time, audio and then llma, 2·Width numbers, to dst, which it returns; nil
// allocates. mel is the chunk's log-mel spectrum [Mels × 2·Frames], band after
// band, normalised as the network was trained; it is not changed. Slices of
// another length panic.
//
// It waits for its turn if Options.Chunks are being worked on, and returns the
// context's error within a few hundredths of the time that a chunk takes. A
// spectrum that is not finite is an error that wraps [ErrNotFinite].
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

// Score runs the head over an embedding: the mean of what [Network.Embed] gave
// for each chunk of a recording. Another length than 2·Width panics.
func (n *Network) Score(embedding []float32) Scores {
	if len(embedding) != len(encoders)*n.shape.Width {
		panic(fmt.Sprintf("dam: embedding of %d numbers, want %d", len(embedding), len(encoders)*n.shape.Width))
	}
	scores := n.head.score(embedding)
	return Scores{Depression: scores[0], Anxiety: scores[1]}
}
