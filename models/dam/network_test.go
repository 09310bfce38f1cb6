package dam

import (
	"context"
	"errors"
	"flag"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

var (
	full      = flag.Bool("full", false, "run the network at its published shape (about 10 s and 1 GB)")
	weightsAt = flag.String("checkpoint", "", "with -full: read the weights from this file, which \"make.py checkpoint\" or \"voicelab model convert\" wrote")
)

// Tolerances of the equivalence with PyTorch in float32, from the issue that
// asked for the network: of the encoders' outputs, relative to their largest
// magnitude, and of the scores.
const (
	outputTolerance = 1e-4
	scoreTolerance  = 1e-4
)

// compare fails if got differs from want by more than the tolerance times size.
func compare(t *testing.T, what string, got, want []float32, size, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %d numbers, want %d", what, len(got), len(want))
	}
	worst, at := 0.0, 0
	for i, v := range got {
		if d := math.Abs(float64(v) - float64(want[i])); !(d <= worst) {
			worst, at = d, i
		}
	}
	t.Logf("%s: largest difference %.1e of %.3g", what, worst/size, size)
	if !(worst <= tolerance*size) {
		t.Errorf("%s: got %v at %d, want %v", what, got[at], at, want[at])
	}
}

func largest(x []float32) float64 {
	size := 0.0
	for _, v := range x {
		size = max(size, math.Abs(float64(v)))
	}
	return size
}

func compareScores(t *testing.T, got, want Scores) {
	t.Helper()
	if d := max(math.Abs(got.Depression-want.Depression), math.Abs(got.Anxiety-want.Anxiety)); !(d <= scoreTolerance) {
		t.Errorf("got scores %v, want %v", got, want)
	}
}

func newNetwork(t testing.TB, s Shape, read TensorReader, opts *Options) *Network {
	t.Helper()
	n, err := NewNetwork(s, read, opts)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSmallNetworkIsThatOfPyTorch(t *testing.T) {
	var want reference
	readJSON(t, "small.json", &want)
	file := want.Files["small.ckpt"]
	for chunk, mel := range want.Mel {
		compare(t, "spectrum", seededMel(small, chunk), mel, 1, 0)
	}
	for name, folded := range file.Folded {
		got := make([]float32, len(folded))
		readSeeded(got, name, []int{small.Width, small.Width})
		compare(t, name, got, folded, largest(folded), 1e-6)
	}
	n := newNetwork(t, small, readSeeded, &Options{Threads: 2})
	mean := make([]float32, 2*small.Width)
	for chunk, mel := range want.Mel {
		embedding, err := n.Embed(context.Background(), nil, mel)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, "embedding", embedding, file.Embeddings[chunk], largest(file.Embeddings[chunk]), outputTolerance)
		for i, v := range embedding {
			mean[i] += v / float32(len(want.Mel))
		}
	}
	compareScores(t, n.Score(mean), file.Scores)
}

// TestEveryLayerIsThatOfPyTorch compares the encoders layer by layer.
func TestEveryLayerIsThatOfPyTorch(t *testing.T) {
	var want reference
	readJSON(t, "small.json", &want)
	n := newNetwork(t, small, readSeeded, &Options{Threads: 1})
	w := newWorkspace(small, 1, false)
	w.setMel(want.Mel[0], small.Mels)
	for i, name := range encoders {
		trace, e := want.Files["small.ckpt"].Trace[name], &n.encoders[i]
		check := func(step string, x []float32) {
			compare(t, name+" "+step, x, trace[step], largest(trace[step]), outputTolerance)
		}
		e.convolve(w)
		w.Add(e.positions)
		check("embedded", w.X)
		w.RunNormFirst(&e.layers[0])
		check("layer0", w.X)
		w.RunNormFirst(&e.layers[1])
		check("layer1", w.X)
		w.Normalize(&e.norm)
		check("output", w.Y)
	}
	if *full {
		t.Run("published shape", isThatOfPyTorchWhole)
	}
}

// isThatOfPyTorchWhole compares the network at its published shape.
func isThatOfPyTorchWhole(t *testing.T) {
	var want struct {
		Rows      []int
		Embedding []float32
		Scores    Scores
		Output    map[string][][]float32
		Largest   map[string]float64
	}
	readJSON(t, "full.json", &want)
	var n *Network
	if *weightsAt == "" {
		n = newNetwork(t, Published, readSeeded, nil)
	} else if err := withFile(*weightsAt, "", func(f *os.File, size int64) error {
		read, err := tensors(f, size, Published)
		if err == nil {
			n = newNetwork(t, Published, read, nil)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	embedding := make([]float32, 2*Published.Width)
	w := newWorkspace(Published, n.threads, false)
	w.setMel(seededMel(Published, 0), Published.Mels)
	for i, name := range encoders {
		if err := n.encoders[i].run(context.Background(), w, embedding[i*Published.Width:][:Published.Width]); err != nil {
			t.Fatal(err)
		}
		for k, row := range want.Rows {
			var got []float32
			for j := 0; j < Published.Width; j += 16 {
				got = append(got, w.Y[row*Published.Width+j])
			}
			compare(t, name, got, want.Output[name][k], want.Largest[name], outputTolerance)
		}
		if size := largest(w.Y); math.Abs(size/want.Largest[name]-1) > outputTolerance {
			t.Errorf("%s: got a largest output of %v, want %v", name, size, want.Largest[name])
		}
	}
	compare(t, "embedding", embedding, want.Embedding, largest(want.Embedding), outputTolerance)
	compareScores(t, n.Score(embedding), want.Scores)
	t.Logf("scores %v", n.Score(embedding))
}

// bfloat16Tolerance bounds the error of a score from eight bits of precision.
const bfloat16Tolerance = 0.01

// TestBFloat16 runs in pairs, also on processors without instructions for them.
func TestBFloat16(t *testing.T) {
	shape := small
	if *full {
		shape = Published
	}
	var want struct {
		Embedding []float32
		Scores    Scores
	}
	if *full {
		readJSON(t, "full.json", &want)
	} else {
		n := newNetwork(t, shape, readSeeded, nil)
		embedding, err := n.Embed(context.Background(), nil, seededMel(shape, 0))
		if err != nil {
			t.Fatal(err)
		}
		want.Embedding, want.Scores = embedding, n.Score(embedding)
	}
	n, err := load(shape, readSeeded, true, false)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorkspace(shape, 2, true)
	embedding := make([]float32, 2*shape.Width)
	var before []float32
	for _, chunk := range []int{0, 1, 0} { // the first again, where there was another
		w.setMel(seededMel(shape, chunk), shape.Mels)
		for i := range n.encoders {
			if err := n.encoders[i].run(context.Background(), w, embedding[i*shape.Width:][:shape.Width]); err != nil {
				t.Fatal(err)
			}
		}
		if before == nil {
			before = append(before, embedding...)
		}
	}
	compare(t, "the same chunk", embedding, before, 1, 0)
	compare(t, "embedding", embedding, want.Embedding, largest(want.Embedding), bfloat16Tolerance)
	got := n.Score(embedding)
	d := max(math.Abs(got.Depression-want.Scores.Depression), math.Abs(got.Anxiety-want.Scores.Anxiety))
	t.Logf("scores differ by %.1e", d)
	if !(d <= bfloat16Tolerance) || d == 0 {
		t.Errorf("got scores %v, want %v", got, want.Scores)
	}
}

// TestThreadsDoNotChangeTheResult also runs chunks on one network at the same time,
// with fewer and with more slots than callers.
func TestThreadsDoNotChangeTheResult(t *testing.T) {
	shape := small
	shape.Frames = 2*48 + 5 // frames beyond two blocks of queries
	weights := randomWeights(shape, 3)
	mel := seededMel(shape, 1)
	var want []float32
	for _, opts := range []*Options{{Threads: 1}, {Threads: 2, Chunks: 2}, {Threads: 5, Chunks: 5}, nil} {
		n := newNetwork(t, shape, weights.read, opts)
		var group sync.WaitGroup
		got := make([][]float32, 4)
		for i := range got {
			group.Add(1)
			go func() {
				defer group.Done()
				for range 2 {
					var err error
					if got[i], err = n.Embed(context.Background(), got[i], mel); err != nil {
						t.Error(err)
					}
				}
			}()
		}
		group.Wait()
		if want == nil {
			want = got[0]
		}
		for _, embedding := range got {
			compare(t, "embedding", embedding, want, 1, 0)
		}
	}
}

func TestEmbedAllocatesNothing(t *testing.T) {
	n := newNetwork(t, small, readSeeded, &Options{Threads: 2})
	mel, dst := seededMel(small, 0), make([]float32, 2*small.Width)
	ctx := context.Background()
	if allocs := cost.Allocations(10, func() {
		if _, err := n.Embed(ctx, dst, mel); err != nil {
			t.Fatal(err)
		}
	}); allocs > 0 {
		t.Errorf("got %v allocations for a chunk, want none", allocs)
	}
}

// TestActivationsTakeWhatIsSaid compares the memory of a workspace at the published
// shape, with packed keys and values, with the megabytes that the comments state.
// The tolerance is half a megabyte.
func TestActivationsTakeWhatIsSaid(t *testing.T) {
	s := Published
	for paired, want := range map[bool]float64{false: 48e6, true: 64e6} {
		before := allocated()
		w := newWorkspace(s, 2, paired)
		w.Attend()
		if got := allocated() - before; !(got < want+5e5 && got > want-2e6) {
			t.Errorf("pairs %v: got %.1f MB, want %.1f", paired, got/1e6, want/1e6)
		}
	}
}

// allocated returns the number of bytes that the process has allocated so far.
func allocated() float64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.TotalAlloc)
}

func TestEmbedThatFails(t *testing.T) {
	n := newNetwork(t, small, readSeeded, &Options{Threads: 2})
	mel := seededMel(small, 0)
	ctx, cancel := context.WithCancel(context.Background())
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		broken := append([]float32(nil), mel...)
		broken[77] = float32(bad)
		if _, err := n.Embed(ctx, nil, broken); !errors.Is(err, ErrNotFinite) {
			t.Errorf("%v in the spectrum: got %v, want %v", bad, err, ErrNotFinite)
		}
	}
	w, err := n.take(ctx)
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error)
	go func() {
		_, err := n.Embed(ctx, nil, mel)
		waiting <- err
	}()
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while waiting: got %v", err)
	}
	if err := n.encoders[0].run(ctx, w, make([]float32, small.Width)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while running: got %v", err)
	}
	n.slots <- w
	if _, err := n.Embed(context.Background(), nil, mel); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

func TestNetworksThatCannotBe(t *testing.T) {
	good := randomWeights(small, 1)
	if _, err := NewNetwork(small, good.read, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"backbone.audio.backbone.conv1.weight", "backbone.llma.backbone.layers.1.self_attn.k_proj.weight",
		"backbone.llma.backbone.layer_norm.bias", "head.classifier_head.anxiety.final_layer.weight",
	} {
		broken := randomWeights(small, 1)
		broken[name].data[len(broken[name].data)-1] = float32(math.NaN())
		if _, err := NewNetwork(small, broken.read, nil); !errors.Is(err, ErrWeights) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not a number: got %v", name, err)
		}
		delete(broken, name)
		if _, err := NewNetwork(small, broken.read, nil); !errors.Is(err, ErrWeights) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is missing: got %v", name, err)
		}
	}
	for what, change := range map[string]func(*Shape){
		"no layers":  func(s *Shape) { s.Layers = 0 },
		"five heads": func(s *Shape) { s.Heads = 5 },
	} {
		s := small
		change(&s)
		if _, err := NewNetwork(s, good.read, nil); !errors.Is(err, ErrWeights) {
			t.Errorf("%s: got %v, want %v", what, err, ErrWeights)
		}
	}
}

// TestReadsTheTensorsInOrder checks that NewNetwork reads in the order of Tensors.
func TestReadsTheTensorsInOrder(t *testing.T) {
	var got, want []string
	weights := randomWeights(small, 1)
	newNetwork(t, small, func(dst []float32, name string, dims []int) error {
		got = append(got, name)
		return weights.read(dst, name, dims)
	}, nil)
	for name := range small.Tensors() {
		want = append(want, name)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
}
