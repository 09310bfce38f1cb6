package stream

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// TestKnownAnswers compares with streams of another implementation, which
// testdata/README.md names.
func TestKnownAnswers(t *testing.T) {
	text, err := os.ReadFile("testdata/vectors.txt")
	if err != nil {
		t.Fatal(err)
	}
	key := make([]byte, KeySize)
	for i := range key {
		key[i] = byte(i)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	if len(lines) != 8 {
		t.Fatalf("got %d vectors, want 8", len(lines))
	}
	for _, line := range lines {
		var n int
		var hash, end string
		if _, err := fmt.Sscan(line, &n, &hash, &end); err != nil {
			t.Fatal(err)
		}
		plain := make([]byte, n)
		for i := range plain {
			plain[i] = byte((i*7 + 3) % 251)
		}
		var sealed bytes.Buffer
		w := NewWriter(&sealed, key)
		if _, err := w.Write(plain); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(sealed.Bytes())
		if got := hex.EncodeToString(sum[:]); got != hash || !strings.HasSuffix(hex.EncodeToString(sealed.Bytes()), end) {
			t.Errorf("%d bytes: got hash %s, want %s", n, got, hash)
		}
		if got, err := io.ReadAll(NewReader(&sealed, key)); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%d bytes: got %d back and error %v", n, len(got), err)
		}
	}
}
