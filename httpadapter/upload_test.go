package httpadapter

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"strings"
	"testing"
)

// A submission with the reader's own faults: they are not reported as the engine's.
func TestFileReader(t *testing.T) {
	for _, size := range []int{0, 1, 4095, 4096, 10000} {
		want := bytes.Repeat([]byte("x"), size)
		u := newUpload(t, string(want), "s")
		part, err := u.next()
		if err != nil {
			t.Fatal(err)
		}
		f := &fileReader{u: u, r: part, rate: serviceRate}
		got, err := io.ReadAll(f)
		if err != nil || !bytes.Equal(got, want) || u.sessionID != "s" {
			t.Errorf("%d bytes: got %d %v and session %q", size, len(got), err, u.sessionID)
		}
		if _, err := f.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("got %v behind the end, want io.EOF", err)
		}
	}
}

func TestLimitedReader(t *testing.T) {
	for n, want := range map[int64]error{4: tooLarge, 5: nil, 6: nil} {
		got, err := io.ReadAll(&limitedReader{strings.NewReader("hello"), n, tooLarge})
		if !errors.Is(err, want) || err != nil && want == nil || int64(len(got)) != min(n, 5) {
			t.Errorf("limit %d: got %q %v, want %v", n, got, err, want)
		}
	}
}

// newUpload returns the upload of a file and, after it, a session.
func newUpload(t *testing.T, file, session string) *upload {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("file", "recording.wav")
	if err == nil {
		_, err = io.WriteString(part, file)
	}
	if err := errors.Join(err, w.WriteField("session_id", session), w.Close()); err != nil {
		t.Fatal(err)
	}
	body := &limitedReader{&b, int64(b.Len()), tooLarge}
	return &upload{mr: multipart.NewReader(body, w.Boundary()), body: body, limits: &defaultLimits, maxFile: defaultMaxUpload}
}
