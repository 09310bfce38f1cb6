package wav2vec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/models/internal/nn/seeded"
	"github.com/voicescreen/voicescreen/models/internal/nn/tensorfile"
)

const packedMagic = "packed network\x01\x01"

// packed is a shape whose tensors are those of a network that is ready to run.
type packed struct {
	Shape
	Int8 bool
}

func (p packed) Tensors() iter.Seq2[string, []int] { return p.Packed(p.Int8) }

// writePacked writes the arrays of a network as a file.
func writePacked(t *testing.T, n *Network) string {
	t.Helper()
	var b bytes.Buffer
	arrays := n.Packed()
	err := tensorfile.Write(&b, packedMagic, packed{n.Shape(), n.Int8()}, "", func(dst []float32, name string, _ []int) error {
		copy(dst, arrays[name])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "network")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// mapPacked runs a network in the memory of a file.
func mapPacked(t *testing.T, path string) (*Network, error) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	data, unmap, err := tensorfile.Map(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unmap(); err != nil {
			t.Error(err)
		}
	})
	file, err := tensorfile.Open(bytes.NewReader(data), info.Size(), packedMagic, func(p packed) error { return p.Check() })
	if err != nil {
		return nil, err
	}
	arrays, err := file.Mapped(data)
	if err != nil {
		return nil, err
	}
	return FromPacked(file.Shape().Shape, arrays, Options{Samples: testSamples, Threads: 2, Int8: file.Shape().Int8})
}

// TestMappedNetworkIsTheSame runs networks in the memory of a file: bit by bit the
// results of the tensors that the file was made of.
func TestMappedNetworkIsTheSame(t *testing.T) {
	for name, s := range shapes() {
		for _, int8 := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/int8=%v", name, int8), func(t *testing.T) { checkMapped(t, s, int8) })
		}
	}
}

func checkMapped(t *testing.T, s Shape, int8 bool) {
	n := newNetwork(t, s, Options{Samples: testSamples, Threads: 1, Int8: int8})
	want, err := n.Logits(context.Background(), seeded.Samples(testSamples))
	if err != nil {
		t.Fatal(err)
	}
	m, err := mapPacked(t, writePacked(t, n))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := m.Logits(context.Background(), seeded.Samples(testSamples))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
}

// TestDamagedNetworkIsRefused changes one byte at a time, and cuts the file short.
func TestDamagedNetworkIsRefused(t *testing.T) {
	path := writePacked(t, newNetwork(t, shapes()["small"], Options{Samples: testSamples, Threads: 1}))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(b []byte, what string, at int) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := mapPacked(t, path); !errors.Is(err, tensorfile.ErrFile) && !errors.Is(err, tensorfile.ErrWeights) {
			t.Errorf("%s %d: got %v, want an error of the package", what, at, err)
		}
	}
	first := len(whole) - len(whole)/2 // in the numbers
	for at := first; at < len(whole); at += len(whole) / 50 {
		b := slices.Clone(whole)
		b[at] ^= 1
		refused(b, "changed byte", at)
	}
	for _, n := range []int{3, 40, first, len(whole) - 1} {
		refused(whole[:n], "first bytes", n)
	}
	refused(append(slices.Clone(whole), 0), "bytes", len(whole)+1)
}

func TestPackedArraysThatDoNotFit(t *testing.T) {
	s := shapes()["weighted"]
	for _, o := range []Options{{Samples: testSamples, Threads: 1}, {Samples: testSamples, Threads: 1, Int8: true}} {
		for name := range s.Packed(o.Int8) {
			arrays := newNetwork(t, s, o).Packed()
			arrays[name] = arrays[name][1:]
			if _, err := FromPacked(s, arrays, o); !errors.Is(err, tensorfile.ErrWeights) || !strings.Contains(err.Error(), name) {
				t.Errorf("%+v, %s is too short: got %v", o, name, err)
			}
		}
	}
	for _, scale := range []float64{math.NaN(), math.Inf(1), -1} {
		o := Options{Samples: testSamples, Threads: 1, Int8: true}
		arrays := newNetwork(t, s, o).Packed()
		x := arrays["layer.1.fc1.weight"]
		x[len(x)-1] = float32(scale)
		if _, err := FromPacked(s, arrays, o); !errors.Is(err, tensorfile.ErrWeights) || !strings.Contains(err.Error(), "layer.1.fc1.weight") {
			t.Errorf("a scale of %v: got %v", scale, err)
		}
	}
}
