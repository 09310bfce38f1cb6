package wav2vec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/voicescreen/voicescreen/models/internal/nn/seeded"
	"github.com/voicescreen/voicescreen/models/internal/nn/tensorfile"
)

// Tolerances of the equivalence with PyTorch in float32, from the issue that asked for
// the network, relative to the largest magnitude.
const (
	featureTolerance = 1e-5
	hiddenTolerance  = 1e-4
)

// weights are the tensors of a network by their names.
type weights map[string][]float32

func (w weights) read(dst []float32, name string, dims []int) error {
	if x, ok := w[name]; !ok || len(x) != len(dst) {
		return fmt.Errorf("%w: %s is missing", tensorfile.ErrWeights, name)
	}
	copy(dst, w[name])
	return nil
}

func drawn(s *Shape) weights {
	w := weights{}
	for name, dims := range s.Tensors() {
		n := 1
		for _, d := range dims {
			n *= d
		}
		w[name] = make([]float32, n)
		seeded.Weight(w[name], name, dims)
	}
	return w
}

// shapes are small networks of each kind, as in make.py.
func shapes() map[string]Shape {
	base := Shape{
		Channels: 20, Kernels: []int{10, 3, 3, 2}, Strides: []int{5, 2, 2, 2}, ConvNorm: GroupNorm,
		Width: 24, Heads: 3, Inner: 40, Layers: 3, PositionTaps: 8, PositionGroups: 4, Classes: 2, InputEpsilon: 1e-5,
	}
	large := base
	large.ConvNorm, large.ConvBias, large.NormFirst = LayerNorm, true, true
	weighted := base
	weighted.WeightedSum, weighted.Projection, weighted.Classes, weighted.PositionTaps = true, 10, 3, 7
	mixed := large
	mixed.WeightedSum, mixed.Projection, mixed.InputEpsilon, mixed.ConvBias = true, 7, 0, false
	return map[string]Shape{"small": base, "large": large, "weighted": weighted, "mixed": mixed}
}

const testSamples = 1500

func newNetwork(t testing.TB, s Shape, o Options) *Network {
	t.Helper()
	n, err := NewNetwork(s, drawn(&s).read, o)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// compare fails if got differs from want by more than the tolerance, relative to the
// largest magnitude of want.
func compare(t *testing.T, what string, got []float32, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %d numbers, want %d", what, len(got), len(want))
	}
	worst, at, size := 0.0, 0, 0.0
	for i, v := range got {
		size = max(size, math.Abs(want[i]))
		if d := math.Abs(float64(v) - want[i]); !(d <= worst) {
			worst, at = d, i
		}
	}
	t.Logf("%s: largest difference %.1e of %.3g", what, worst/size, size)
	if !(worst <= tolerance*size) || size == 0 {
		t.Errorf("%s: got %v at %d, want %v", what, got[at], at, want[at])
	}
}

func compareLogits(t *testing.T, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got logits %v, want %v", got, want)
	}
	for i, v := range got {
		if !(math.Abs(v-want[i]) <= hiddenTolerance) {
			t.Errorf("got logits %v, want %v", got, want)
		}
	}
}

// trace runs a network and returns its logits and what it holds after each step.
func trace(t *testing.T, n *Network, x []float32) (logits []float64, steps map[string][]float32) {
	t.Helper()
	w := newWorkspace(n)
	steps = map[string][]float32{}
	w.trace = func(step string, i int, x []float32) {
		key := fmt.Sprintf("%s %d", step, i)
		steps[key] = append(steps[key], x...) // the features come in chunks
	}
	<-n.slots
	n.slots <- w
	logits, err := n.Logits(context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	return logits, steps
}

func flat(x rows) []float64 {
	var y []float64
	for _, row := range x {
		y = append(y, row...)
	}
	return y
}

func TestEveryStepIsTheDefinition(t *testing.T) {
	for name, s := range shapes() {
		t.Run(name, func(t *testing.T) {
			x := seeded.Samples(testSamples)
			got, steps := trace(t, newNetwork(t, s, Options{Samples: 2 * testSamples, Threads: 2}), x)
			d := definition{drawn(&s), s}
			features := d.features(x)
			compare(t, "features", steps["features 0"], flat(features), featureTolerance)
			states := d.hidden(features)
			for i, state := range states {
				compare(t, fmt.Sprint("layer ", i), steps[fmt.Sprint("layer ", i)], flat(state), hiddenTolerance)
			}
			compareLogits(t, got, d.logits(states))
		})
	}
}

// TestOddSizesAreTheDefinition runs shapes that do not fill a tile or register, and
// clips from one frame to several chunks of the extractor.
func TestOddSizesAreTheDefinition(t *testing.T) {
	for i, s := range []Shape{
		{Channels: 1, Kernels: []int{1}, Strides: []int{1}, ConvNorm: LayerNorm, Width: 1, Heads: 1, Inner: 1, Layers: 1, PositionTaps: 1, PositionGroups: 1, Classes: 1},
		{Channels: 17, Kernels: []int{4, 3}, Strides: []int{3, 3}, ConvNorm: GroupNorm, ConvBias: true, Width: 34, Heads: 2, Inner: 33, Layers: 2, NormFirst: true, PositionTaps: 5, PositionGroups: 2, Classes: 3, InputEpsilon: 1e-7},
		{Channels: 5, Kernels: []int{2, 2, 2}, Strides: []int{1, 2, 1}, ConvNorm: LayerNorm, Width: 15, Heads: 5, Inner: 7, Layers: 1, PositionTaps: 12, PositionGroups: 3, Classes: 2, WeightedSum: true},
	} {
		n := newNetwork(t, s, Options{Samples: 1000, Threads: 2})
		for _, length := range []int{300, 1, 11, 12, 13, 97, 1000} {
			x := seeded.Samples(length)
			if s.Frames(length) == 0 {
				continue
			}
			got, err := n.Logits(context.Background(), x)
			if err != nil {
				t.Fatal(err)
			}
			d := definition{drawn(&s), s}
			t.Logf("shape %d, %d samples, %d frames", i, length, s.Frames(length))
			compareLogits(t, got, d.logits(d.hidden(d.features(x))))
		}
	}
}

// TestSmallNetworksAreThoseOfPyTorch compares with what testdata/make.py computed.
func TestSmallNetworksAreThoseOfPyTorch(t *testing.T) {
	data, err := os.ReadFile("testdata/small.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]struct {
		Features []float64
		Hidden   [][]float64
		Logits   []float64
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	for name, s := range shapes() {
		t.Run(name, func(t *testing.T) {
			ref, ok := want[name]
			if !ok || len(ref.Hidden) != s.Layers+1 {
				t.Fatal("the file has no such network")
			}
			got, steps := trace(t, newNetwork(t, s, Options{Samples: testSamples, Threads: 1}), seeded.Samples(testSamples))
			compare(t, "features", steps["features 0"], ref.Features, featureTolerance)
			for i, state := range ref.Hidden {
				compare(t, fmt.Sprint("layer ", i), steps[fmt.Sprint("layer ", i)], state, hiddenTolerance)
			}
			compareLogits(t, got, ref.Logits)
		})
	}
}

// TestClipsDoNotChangeEachOther runs clips of several lengths at the same time and
// after one another, on any number of goroutines: the bits of each stay the same.
func TestClipsDoNotChangeEachOther(t *testing.T) {
	for _, int8 := range []bool{false, true} {
		t.Run(fmt.Sprintf("int8=%v", int8), func(t *testing.T) { checkClips(t, int8) })
	}
}

func checkClips(t *testing.T, int8 bool) {
	s := shapes()["weighted"]
	lengths := []int{400, 1500, 333, 900}
	want := make([][]float64, len(lengths))
	for i, length := range lengths {
		var err error
		if want[i], err = newNetwork(t, s, Options{Samples: length, Threads: 1, Int8: int8}).Logits(context.Background(), seeded.Samples(length)); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range []Options{{Threads: 1, Clips: 1}, {Threads: 3, Clips: 2}, {Clips: 4}} {
		o.Samples, o.Int8 = slices.Max(lengths), int8
		n := newNetwork(t, s, o)
		var group sync.WaitGroup
		for i, length := range lengths {
			group.Add(1)
			go func() {
				defer group.Done()
				for range 2 {
					got, err := n.Logits(context.Background(), seeded.Samples(length))
					if err != nil || !slices.Equal(got, want[i]) {
						t.Errorf("%+v, %d samples: got %v, %v, want %v", o, length, got, err, want[i])
					}
				}
			}()
		}
		group.Wait()
	}
}

// int8Tolerance is how much the rounding to eight bits may move the probability of a class,
// from the issue that asked for it.
const int8Tolerance = 0.01

// moved returns the largest difference between the probabilities of the classes.
func moved(got, want []float64) float64 {
	worst := 0.0
	p, q := probabilities(got), probabilities(want)
	for i := range p {
		worst = max(worst, math.Abs(p[i]-q[i]))
	}
	return worst
}

// probabilities is the softmax by definition.
func probabilities(logits []float64) []float64 {
	sum, p := 0.0, make([]float64, len(logits))
	for i, v := range logits {
		p[i] = math.Exp(v)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// TestInt8 compares networks of integers with those of float32.
func TestInt8(t *testing.T) {
	for name, s := range shapes() {
		for _, length := range []int{testSamples, 400, 60} {
			x := seeded.Samples(length)
			want, err := newNetwork(t, s, Options{Samples: length}).Logits(context.Background(), x)
			if err != nil {
				t.Fatal(err)
			}
			n := newNetwork(t, s, Options{Samples: length, Int8: true})
			got, err := n.Logits(context.Background(), x)
			if err != nil {
				t.Fatal(err)
			}
			d := moved(got, want)
			t.Logf("%s, %d samples: probabilities moved by %.1e", name, length, d)
			if !n.Int8() || !(d <= int8Tolerance) || d == 0 && s.Classes > 1 {
				t.Errorf("%s, %d samples: got logits %v, want %v", name, length, got, want)
			}
		}
	}
}

func TestLogitsThatFail(t *testing.T) {
	n := newNetwork(t, shapes()["small"], Options{Samples: testSamples, Threads: 2})
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		x := seeded.Samples(testSamples)
		x[77] = float32(bad)
		if _, err := n.Logits(context.Background(), x); !errors.Is(err, ErrNotFinite) {
			t.Errorf("%v in the samples: got %v, want %v", bad, err, ErrNotFinite)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	w, err := n.take(ctx)
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error)
	go func() {
		_, err := n.Logits(ctx, seeded.Samples(testSamples))
		waiting <- err
	}()
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while waiting: got %v", err)
	}
	if err := n.encode(ctx, w, testSamples); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while running: got %v", err)
	}
	n.slots <- w
	if _, err := n.Logits(context.Background(), make([]float32, testSamples)); err != nil {
		t.Errorf("silence: %v", err)
	}
}

func TestShapesAndWeightsThatDoNotFit(t *testing.T) {
	for what, change := range map[string]func(*Shape){
		"no layers":        func(s *Shape) { s.Layers = 0 },
		"many layers":      func(s *Shape) { s.Layers = maxLayers + 1 },
		"five heads":       func(s *Shape) { s.Heads = 5 },
		"seven groups":     func(s *Shape) { s.PositionGroups = 7 },
		"no kernels":       func(s *Shape) { s.Kernels, s.Strides = nil, nil },
		"a kernel of 0":    func(s *Shape) { s.Kernels = []int{0, 3, 3, 2} },
		"a stride missing": func(s *Shape) { s.Strides = s.Strides[:3] },
		"a long stride":    func(s *Shape) { s.Strides = []int{11, 2, 2, 2} },
		"a huge width":     func(s *Shape) { s.Width = 1 << 40 },
		"no normalisation": func(s *Shape) { s.ConvNorm = 0 },
		"a projection":     func(s *Shape) { s.Projection = -1 },
		"an epsilon":       func(s *Shape) { s.InputEpsilon = math.NaN() },
	} {
		s := shapes()["small"]
		change(&s)
		if _, err := NewNetwork(s, nil, Options{Samples: testSamples}); !errors.Is(err, tensorfile.ErrWeights) {
			t.Errorf("%s: got %v, want %v", what, err, tensorfile.ErrWeights)
		}
	}
	s := shapes()["mixed"]
	var read []string
	_, err := NewNetwork(s, func(dst []float32, name string, dims []int) error {
		read = append(read, name)
		return drawn(&s).read(dst, name, dims)
	}, Options{Samples: testSamples})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range s.Tensors() {
		names = append(names, name)
		w := drawn(&s)
		delete(w, name)
		if _, err := NewNetwork(s, w.read, Options{Samples: testSamples}); !errors.Is(err, tensorfile.ErrWeights) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is missing: got %v", name, err)
		}
	}
	if !slices.Equal(read, names) {
		t.Errorf("got tensors read in the order %q, want %q", read, names)
	}
}
