package httpadapter

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/stream"
)

func TestTemporaryFilesAreEncrypted(t *testing.T) {
	content := strings.Repeat("canary ", 50_000)
	s, err := spool(t.TempDir(), strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	info, err := s.file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	raw := make([]byte, info.Size())
	if _, err := s.file.ReadAt(raw, 0); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, []byte("canary")) || len(raw) < len(content) {
		t.Errorf("the file has %d bytes of %d, and the content in them: %v", len(raw), len(content), bytes.Contains(raw, []byte("canary")))
	}
	if got, err := io.ReadAll(s); string(got) != content || err != nil {
		t.Errorf("got %d bytes and error %v, want what was written", len(got), err)
	}
}

func TestADamagedTemporaryFileIsNotSubmitted(t *testing.T) {
	s, err := spool(t.TempDir(), strings.NewReader("a recording"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b [1]byte
	_, rerr := s.file.ReadAt(b[:], 3)
	b[0] ^= 1
	if _, err := s.file.WriteAt(b[:], 3); err != nil || rerr != nil {
		t.Fatal(rerr, err)
	}
	if got, err := io.ReadAll(s); len(got) != 0 || !errors.Is(err, stream.ErrCorrupt) {
		t.Errorf("got %q and error %v, want %v", got, err, stream.ErrCorrupt)
	}
}
