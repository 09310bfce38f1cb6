package dam

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

// int8Tolerance is how much the rounding to eight bits may move a score, from the issue
// that asked for it.
const int8Tolerance = 0.01

const smallCheckpoint = "testdata/small.ckpt"

// convertedInt8 writes the small checkpoint as integers and returns the file and its bytes.
func convertedInt8(t testing.TB) (path string, b []byte) {
	t.Helper()
	var w bytes.Buffer
	if err := convertShape(&w, smallCheckpoint, small, "", true); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "small.model")
	if err := os.WriteFile(path, w.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, w.Bytes()
}

// embedded returns the means of both encoders for a chunk.
func embedded(t *testing.T, n *Network, chunk int) []float32 {
	t.Helper()
	x, err := n.Embed(context.Background(), nil, seededMel(n.shape, chunk))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestInt8 compares a network of integers with that of float32, and the converted file
// with the checkpoint, on one and more goroutines.
func TestInt8(t *testing.T) {
	near := func(n *Network, want Scores) {
		t.Helper()
		got := n.Score(embedded(t, n, 0))
		d := max(math.Abs(got.Depression-want.Depression), math.Abs(got.Anxiety-want.Anxiety))
		t.Logf("scores differ by %.1e", d)
		if !(d <= int8Tolerance) || d == 0 || !n.Int8() || n.BFloat16() {
			t.Errorf("got scores %v, want %v", got, want)
		}
	}
	if *full {
		var want struct{ Scores Scores }
		readJSON(t, "full.json", &want)
		near(newNetwork(t, Published, readSeeded, &Options{Int8: true}), want.Scores)
	}
	float, err := openShape(smallCheckpoint, small, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := openShape(smallCheckpoint, small, &ScorerOptions{Options: Options{Int8: true, BFloat16: true, Threads: 1}})
	if err != nil {
		t.Fatal(err)
	}
	near(m.network, float.network.Score(embedded(t, float.network, 0)))
	path, _ := convertedInt8(t)
	mapped, err := openShape(path, small, &ScorerOptions{Options: Options{Threads: 3, Chunks: 2}})
	if err != nil {
		t.Fatal(err)
	}
	for _, chunk := range []int{0, 1, 0} {
		if got, want := embedded(t, mapped.network, chunk), embedded(t, m.network, chunk); !slices.Equal(got, want) {
			t.Errorf("chunk %d: the converted file gives other numbers", chunk)
		}
	}
	for m, version := range map[*Model]string{float: "3.1", m: "3.1-int8", mapped: "3.1-int8"} {
		if got := m.Info().Version; got != version || m.Int8() != strings.HasSuffix(version, "int8") {
			t.Errorf("got the version %s, want %s", got, version)
		}
	}
	n := newNetwork(t, tiny, randomWeights(tiny, 5).read, &Options{Threads: 1, Int8: true})
	m, err = newModel(n, &ScorerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	scores, err := m.raw(t.Context(), madeSignal()[:1000])
	if err != nil || math.IsNaN(scores.Depression) {
		t.Errorf("got %v, %v", scores, err)
	}
}

func TestInt8FilesThatDoNotFit(t *testing.T) {
	path, whole := convertedInt8(t)
	if _, err := openShape(path, tiny, nil); !errors.Is(err, ErrWeights) {
		t.Errorf("another shape: got %v, want %v", err, ErrWeights)
	}
	if err := convertShape(new(bytes.Buffer), path, small, "", true); !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), "published file") {
		t.Errorf("converted twice: got %v, want %v", err, ErrFile)
	}
	if !Is(whole[:16]) {
		t.Error("Is does not know the file")
	}
	want, err := fromBytes(whole, small, &Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	embedding := embedded(t, want, 0)
	for at := 0; at < len(whole); at += len(whole)/300 + 1 {
		b := slices.Clone(whole)
		b[at] ^= 0x20
		n, err := fromBytes(b, small, &Options{Threads: 1})
		if err != nil && !errors.Is(err, ErrFile) && !errors.Is(err, ErrWeights) {
			t.Errorf("byte %d changed: got %v, want an error of the package", at, err)
		}
		if err == nil && !slices.Equal(embedded(t, n, 0), embedding) { // JSON ignores the case of names
			t.Errorf("byte %d changed: the file is read as something else", at)
		}
	}
	for _, n := range []int{0, 15, 20, 1000, len(whole) - 1} {
		if _, err := fromBytes(whole[:n], small, &Options{}); !errors.Is(err, ErrFile) && !errors.Is(err, ErrWeights) {
			t.Errorf("%d bytes: got %v, want an error of the package", n, err)
		}
	}
}

// FuzzInt8 reads a converted model of integers.
func FuzzInt8(f *testing.F) {
	_, b := convertedInt8(f)
	f.Add(b)
	f.Add(b[:3000])
	f.Fuzz(func(t *testing.T, b []byte) {
		var err error
		cost.Check(t, len(b), func() { _, err = fromBytes(b, small, &Options{Threads: 1}) })
		if err != nil && !errors.Is(err, ErrFile) && !errors.Is(err, ErrWeights) {
			t.Fatalf("got %v, want ErrFile or ErrWeights", err)
		}
	})
}
