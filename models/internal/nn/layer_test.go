package nn

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/models/internal/nn/tensorfile"
)

// drawn is a Loader.Read of weights that depend on the name alone.
func drawn(dst []float32, name string, dims []int) error {
	h := fnv.New64a()
	_, _ = io.WriteString(h, name) // a hash returns no error
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	scale, mean := 0.05, 0.0
	if strings.HasSuffix(name, "norm.weight") {
		mean = 1
	} else if len(dims) > 1 {
		scale = 0.3
	}
	for i := range dst {
		dst[i] = float32(mean + scale*r.NormFloat64())
	}
	return nil
}

// drawnLayer reads a layer of drawn weights, of integers if int8 is set.
func drawnLayer(t *testing.T, s Sizes, int8 bool) *Layer {
	t.Helper()
	l := &Loader{Read: drawn, Int8: int8}
	layer := &Layer{AttentionNorm: l.Norm("first.norm", s.Width), InnerNorm: l.Norm("second.norm", s.Width)}
	l.Attention(&layer.QKV, "attention", s.Width, s.Heads, true)
	l.Linear(&layer.Out, "attention.out_proj", s.Width, s.Width)
	l.Linear(&layer.FC1, "fc1", s.Inner, s.Width)
	l.Linear(&layer.FC2, "fc2", s.Width, s.Inner)
	if l.Err != nil {
		t.Fatal(l.Err)
	}
	return layer
}

// TestShortSequenceInLongWorkspace runs sequences in a workspace of their length and,
// after a longer one, in a larger workspace: the bits must be the same.
func TestShortSequenceInLongWorkspace(t *testing.T) {
	for _, int8 := range []bool{false, true} {
		t.Run(fmt.Sprintf("int8=%v", int8), func(t *testing.T) { checkLengths(t, int8) })
	}
}

func checkLengths(t *testing.T, int8 bool) {
	s := Sizes{Frames: 2*queryRows + 9, Width: 24, Heads: 3, Inner: 40}
	layer := drawnLayer(t, s, int8)
	long := NewWorkspace(s, 2, false)
	r := rand.New(rand.NewPCG(1, 1))
	for _, frames := range []int{s.Frames, 1, queryRows, queryRows + 1, 7, s.Frames} {
		x := make([]float32, frames*s.Width)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		own := s
		own.Frames = frames
		short := NewWorkspace(own, 1, false)
		copy(short.X, x)
		short.RunNormFirst(layer)
		long.SetFrames(frames)
		copy(long.X, x)
		long.RunNormFirst(layer)
		if !slices.Equal(short.X, long.X) {
			t.Errorf("%d frames: the results differ", frames)
		}
		if slices.Equal(long.X, x) {
			t.Errorf("%d frames: the layer did nothing", frames)
		}
	}
}

func TestLoaderNamesTheFault(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		read func(dst []float32, name string, dims []int) error
		want error
	}{
		"an error":     {func([]float32, string, []int) error { return broken }, broken},
		"not a number": {func(dst []float32, _ string, _ []int) error { dst[0] = float32(math.NaN()); return nil }, tensorfile.ErrWeights},
		"infinite":     {func(dst []float32, _ string, _ []int) error { dst[0] = float32(math.Inf(-1)); return nil }, tensorfile.ErrWeights},
	} {
		l := &Loader{Read: c.read, Prefix: "part."}
		l.Norm("norm", 3)
		l.Vector("later", 2)
		if !errors.Is(l.Err, c.want) || !strings.Contains(l.Err.Error(), "part.norm.weight") {
			t.Errorf("%s: got %v, want %v of part.norm.weight", name, l.Err, c.want)
		}
	}
}
