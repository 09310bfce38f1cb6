package stream_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/internal/stream"
)

const sealed = stream.ChunkSize + 16 // bytes of a full chunk

func noise(seed uint64, n int) []byte {
	var s [32]byte
	binary.BigEndian.PutUint64(s[:], seed)
	b := make([]byte, n)
	_, _ = rand.NewChaCha8(s).Read(b) // never fails
	return b
}

func seal(t testing.TB, key, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := stream.NewWriter(&b, key)
	if n, err := w.Write(plain); n != len(plain) || err != nil {
		t.Fatalf("Write: got %d and error %v", n, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var lengths = []int{0, 1, 100, stream.ChunkSize - 1, stream.ChunkSize, stream.ChunkSize + 1, 2 * stream.ChunkSize, 3*stream.ChunkSize + 7}

func TestWhatIsWrittenIsRead(t *testing.T) {
	key := noise(1, stream.KeySize)
	for _, n := range lengths {
		plain := noise(2, n)
		whole := seal(t, key, plain)
		var pieces bytes.Buffer
		w := stream.NewWriter(&pieces, key)
		for rest := plain; len(rest) > 0; {
			k := min(len(rest), 1+len(rest)/3)
			_, _ = w.Write(rest[:k])
			rest = rest[k:]
		}
		if err := w.Close(); err != nil || !bytes.Equal(pieces.Bytes(), whole) {
			t.Errorf("%d bytes: written in pieces they are another stream (%v)", n, err)
		}
		for name, r := range map[string]io.Reader{"whole": bytes.NewReader(whole), "half": iotest.HalfReader(bytes.NewReader(whole)), "with its end": iotest.DataErrReader(bytes.NewReader(whole))} {
			got, err := io.ReadAll(stream.NewReader(r, key))
			if err != nil || !bytes.Equal(got, plain) {
				t.Errorf("%d bytes, %s: got %d and error %v", n, name, len(got), err)
			}
		}
		if n > 32 && bytes.Contains(whole, plain[:32]) {
			t.Errorf("%d bytes: the stream contains plain text", n)
		}
	}
}

// TestChunksAreAsDescribed opens each chunk with AES-GCM alone.
func TestChunksAreAsDescribed(t *testing.T) {
	key, plain := noise(1, stream.KeySize), noise(2, 2*stream.ChunkSize+5)
	whole := seal(t, key, plain)
	block, _ := aes.NewCipher(key)
	aead, _ := cipher.NewGCM(block)
	var got []byte
	for i, chunk := range slices.Collect(slices.Chunk(whole, sealed)) {
		nonce := []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, byte(i), 0}
		if i == 2 {
			nonce[11] = 1
		}
		b, err := aead.Open(nil, nonce, chunk, nil)
		if err != nil {
			t.Fatalf("chunk %d: %v", i, err)
		}
		got = append(got, b...)
	}
	if !bytes.Equal(got, plain) {
		t.Error("got another content")
	}
}

// read reads a stream and returns its error. It fails the test unless the bytes read are
// a prefix of plain, and all of it if there is no error.
func read(t *testing.T, what string, key, whole, plain []byte) error {
	t.Helper()
	got, err := io.ReadAll(stream.NewReader(bytes.NewReader(whole), key))
	if !bytes.HasPrefix(plain, got) {
		t.Errorf("%s: got %d bytes that were not written", what, len(got))
	}
	if err == nil && len(got) != len(plain) {
		t.Errorf("%s: got %d bytes and no error, want %d", what, len(got), len(plain))
	}
	return err
}

func TestEveryChangeIsDetected(t *testing.T) {
	key, other := noise(1, stream.KeySize), noise(3, stream.KeySize)
	plain := noise(2, 3*stream.ChunkSize+9)
	whole := seal(t, key, plain)
	chunks := slices.Collect(slices.Chunk(whole, sealed))
	join := func(c ...[]byte) []byte { return slices.Concat(c...) }
	for name, changed := range map[string][]byte{
		"an empty file":              {},
		"two chunks swapped":         join(chunks[1], chunks[0], chunks[2], chunks[3]),
		"a chunk twice":              join(chunks[0], chunks[0], chunks[1], chunks[2], chunks[3]),
		"a chunk left out":           join(chunks[0], chunks[2], chunks[3]),
		"the first left out":         join(chunks[1], chunks[2], chunks[3]),
		"the last left out":          join(chunks[0], chunks[1], chunks[2]),
		"the last twice":             join(whole, chunks[3]),
		"a chunk after the last":     join(whole, chunks[1]),
		"a byte after the last":      join(whole, []byte{0}),
		"the last of another stream": join(chunks[0], chunks[1], chunks[2], seal(t, other, plain)[3*sealed:]),
		"an empty chunk at the end":  join(whole[:3*sealed], seal(t, key, nil)),
		"another stream":             seal(t, other, plain),
	} {
		if err := read(t, name, key, changed, plain); !errors.Is(err, stream.ErrCorrupt) {
			t.Errorf("%s: got error %v, want %v", name, err, stream.ErrCorrupt)
		}
	}
	rnd := rand.New(rand.NewPCG(4, 5))
	for range 300 {
		n := rnd.IntN(len(whole))
		if err := read(t, "cut", key, whole[:n], plain); !errors.Is(err, stream.ErrCorrupt) {
			t.Errorf("the first %d of %d bytes: got error %v, want %v", n, len(whole), err, stream.ErrCorrupt)
		}
	}
}

func TestEveryFlippedBitIsDetected(t *testing.T) {
	key := noise(1, stream.KeySize)
	for _, n := range []int{0, 1, 50} { // short streams: every bit
		plain := noise(2, n)
		whole := seal(t, key, plain)
		for i := range 8 * len(whole) {
			changed := bytes.Clone(whole)
			changed[i/8] ^= 1 << (i % 8)
			if err := read(t, fmt.Sprintf("bit %d", i), key, changed, plain); !errors.Is(err, stream.ErrCorrupt) {
				t.Fatalf("bit %d of a stream of %d bytes: got error %v, want %v", i, n, err, stream.ErrCorrupt)
			}
		}
	}
	plain := noise(2, 2*stream.ChunkSize+100)
	whole := seal(t, key, plain)
	rnd := rand.New(rand.NewPCG(6, 7))
	for range 300 { // a long one: a sample
		i := rnd.IntN(8 * len(whole))
		whole[i/8] ^= 1 << (i % 8)
		if err := read(t, "", key, whole, plain); !errors.Is(err, stream.ErrCorrupt) {
			t.Fatalf("bit %d: got error %v, want %v", i, err, stream.ErrCorrupt)
		}
		whole[i/8] ^= 1 << (i % 8)
	}
}

func TestErrorsOfTheUnderlyingStreamAreReturned(t *testing.T) {
	key := noise(1, stream.KeySize)
	broken := errors.New("broken")
	w := stream.NewWriter(brokenWriter{broken}, key)
	_, first := w.Write(noise(2, 2*stream.ChunkSize))
	_, second := w.Write([]byte{1})
	for _, err := range []error{first, second, w.Close()} {
		if err != broken {
			t.Errorf("Writer: got error %v, want %v", err, broken)
		}
	}
	whole := seal(t, key, noise(2, 2*stream.ChunkSize))
	for _, n := range []int{0, 5, sealed, sealed + 1} {
		_, err := io.ReadAll(stream.NewReader(io.MultiReader(bytes.NewReader(whole[:n]), iotest.ErrReader(broken)), key))
		if err != broken {
			t.Errorf("Reader, after %d bytes: got error %v, want %v", n, err, broken)
		}
	}
	closed := stream.NewWriter(io.Discard, key)
	_ = closed.Close()
	if _, err := closed.Write([]byte{1}); err == nil {
		t.Error("Write after Close: got no error")
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func FuzzReader(f *testing.F) {
	key := noise(1, stream.KeySize)
	for _, n := range []int{0, 10} {
		f.Add(seal(f, key, noise(2, n)))
	}
	f.Add(make([]byte, sealed+20))
	f.Fuzz(func(t *testing.T, b []byte) {
		var got []byte
		var err error
		cost.Check(t, len(b), func() { got, err = io.ReadAll(stream.NewReader(bytes.NewReader(b), key)) })
		if err == nil && !bytes.Equal(seal(t, key, got), b) { // each stream that opens has one plain text, and this one stream
			t.Errorf("%d bytes opened that no Writer wrote", len(b))
		}
	})
}

func BenchmarkStream(b *testing.B) {
	key, plain := noise(1, stream.KeySize), noise(2, 30*44100*2) // a recording of 30 s
	var out bytes.Buffer
	b.Run("seal", func(b *testing.B) {
		b.SetBytes(int64(len(plain)))
		for b.Loop() {
			out.Reset()
			w := stream.NewWriter(&out, key)
			_, _ = w.Write(plain)
			_ = w.Close()
		}
	})
	b.Run("open", func(b *testing.B) {
		b.SetBytes(int64(len(plain)))
		for b.Loop() {
			_, _ = io.Copy(io.Discard, stream.NewReader(bytes.NewReader(out.Bytes()), key))
		}
	})
}
