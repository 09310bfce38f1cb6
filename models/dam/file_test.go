package dam

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/models/internal/nn/tensorfile"
)

func converted(t testing.TB, w weights) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tensorfile.Write(&b, fileMagic, small, "", w.read); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func readConverted(b []byte) (weights, error) {
	f, err := openFile(bytes.NewReader(b), int64(len(b)), small)
	if err != nil {
		return nil, err
	}
	return readWeights(f.Read)
}

// The tensors of a conversion are those of its checkpoint, bit by bit.
func TestConversion(t *testing.T) {
	want, err := readAll(testFile(t, "small.ckpt"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := readConverted(converted(t, want))
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range want {
		if !slices.Equal(got[name].data, w.data) {
			t.Errorf("%s differs", name)
		}
	}
}

// emptyModel is a converted model whose numbers are all zero. It holds only the
// header in memory.
type emptyModel struct {
	head []byte
	size int64
}

func newEmptyModel(t *testing.T, s Shape) *emptyModel {
	t.Helper()
	h := tensorfile.Header[Shape]{Shape: s}
	var numbers int64
	for name, dims := range s.Tensors() {
		n := count(dims)
		h.Tensors = append(h.Tensors, tensorfile.Tensor{Name: name, Dims: slices.Clone(dims), CRC: crc32.Checksum(make([]byte, 4*n), crc32.MakeTable(crc32.Castagnoli))})
		numbers += int64(n)
	}
	head, err := h.Append(nil, fileMagic)
	if err != nil {
		t.Fatal(err)
	}
	return &emptyModel{head, int64(len(head)) + 4*numbers}
}

func (m *emptyModel) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	if off < int64(len(m.head)) {
		n = copy(p, m.head[off:])
	}
	clear(p[n:])
	return len(p), nil
}

// TestOpeningTakesLittleMoreThanTheWeights counts all allocations of opening a model
// of the published width with two layers. With twelve layers the share beyond the
// weights is smaller, because one tensor is a smaller part of them.
func TestOpeningTakesLittleMoreThanTheWeights(t *testing.T) {
	const most = 1.2 // of the weights
	s := Published
	s.Layers = 2
	var weights float64
	for _, dims := range s.Tensors() {
		weights += 4 * float64(count(dims))
	}
	m := newEmptyModel(t, s)
	before := allocated()
	read, err := tensors(m, m.size, s)
	if err != nil {
		t.Fatal(err)
	}
	n, err := NewNetwork(s, read, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := allocated() - before
	t.Logf("%.1f MB for weights of %.1f MB: %.3f times", got/1e6, weights/1e6, got/weights)
	if !(got >= weights && got <= most*weights) {
		t.Errorf("%.1f MB for weights of %.1f MB, want at most %.1f times", got/1e6, weights/1e6, most)
	}
	runtime.KeepAlive(n)
}

// TestPublishedHeaderHasRoom compares the header of the published shape with
// the bounds of a header.
func TestPublishedHeaderHasRoom(t *testing.T) {
	const room = 1.5
	head := newEmptyModel(t, Published).head
	if n := len(head); room*float64(n) > tensorfile.MaxHeader {
		t.Errorf("%d bytes, want at most %d/%v", n, tensorfile.MaxHeader, room)
	}
	if n := bytes.Count(head, []byte{','}); room*float64(n) > tensorfile.MaxValues {
		t.Errorf("%d values, want at most %d/%v", n, tensorfile.MaxValues, room)
	}
}

// After a change of one byte, of every seventh of the header and many others, the
// file is refused or gives the same numbers: only the source's name and the padding
// are not checked.
func TestDamagedConversion(t *testing.T) {
	w := randomWeights(small, 3)
	b := converted(t, w)
	rng := rand.New(rand.NewPCG(1, 1))
	head := bytes.IndexByte(b[20:], 0) + 20 // the header is text
	places := make([]int, 0, head+500)
	for i := 0; i < head; i += 7 {
		places = append(places, i)
	}
	for range 200 {
		places = append(places, head+rng.IntN(len(b)-head))
	}
	for _, at := range places {
		damaged := slices.Clone(b)
		damaged[at] ^= 1 << rng.IntN(8)
		got, err := readConverted(damaged)
		if err != nil {
			if !errors.Is(err, ErrFile) && !errors.Is(err, ErrWeights) {
				t.Fatalf("byte %d: got %v, want ErrFile or ErrWeights", at, err)
			}
			continue
		}
		for name := range w {
			if !slices.Equal(got[name].data, w[name].data) {
				t.Fatalf("byte %d was changed, and %s is read as something else", at, name)
			}
		}
	}
}

func TestConversionsThatAreNone(t *testing.T) {
	b := converted(t, randomWeights(small, 3))
	huge := slices.Clone(b[:20])
	copy(huge[16:], "\xff\xff\xff\xff")
	header := func(text string) []byte {
		return append(binary.LittleEndian.AppendUint32([]byte(fileMagic), uint32(len(text))), text...)
	}
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"empty":         {nil, "EOF"},
		"another file":  {[]byte(strings.Repeat("x", 100)), "begins"},
		"cut":           {b[:len(b)-1], "beyond the end"},
		"longer":        {append(slices.Clone(b), 0), "after the last"},
		"a huge header": {huge, "header of 4294967295"},
		"no JSON":       {header("{"), "header"},
		"a member more": {header(`{"colour":1}`), "colour"},
		"two values":    {header(`{}{}`), "follows"},
		"many values":   {header(`{"tensors":[` + strings.Repeat("{},", tensorfile.MaxValues+1) + `{}]}`), "more than 4096 values"},
	} {
		if _, err := readConverted(c.b); !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want ErrFile with %q", name, err, c.want)
		}
	}
	if _, err := openFile(bytes.NewReader(b), int64(len(b)), Published); !errors.Is(err, ErrWeights) {
		t.Errorf("another shape: got %v, want ErrWeights", err)
	}
	if _, err := readConverted(header(`{}`)); !errors.Is(err, ErrWeights) {
		t.Errorf("a header without a shape: got %v, want ErrWeights", err)
	}
}

func FuzzConversion(f *testing.F) {
	f.Add(converted(f, randomWeights(small, 3))[:4096])
	f.Fuzz(func(t *testing.T, b []byte) {
		var err error
		cost.Check(t, len(b), func() { _, err = readConverted(b) })
		if err != nil && !errors.Is(err, ErrFile) && !errors.Is(err, ErrWeights) {
			t.Fatalf("got %v, want ErrFile or ErrWeights", err)
		}
	})
}
