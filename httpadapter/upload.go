package httpadapter

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"unicode/utf8"

	"github.com/voicescreen/voicescreen/internal/stream"
)

const (
	serviceRate = 44100 // Hz, of recordings for which no other is allowed
	minRate     = 8000  // Hz, the bounds of allowed_sample_rate
	maxRate     = 48000

	// uploadOverhead is how much longer than the largest file a body may say
	// that it is. What it has beside the file is bounded by Limits.
	uploadOverhead = 1 << 20

	// readAhead is how much of a file is looked at for its rate, and how much
	// is read at once.
	readAhead = 32 << 10
)

// upload reads the parts of a multipart body, which come in any order.
type upload struct {
	mr        *multipart.Reader
	body      *limitedReader // under mr: bounds what stands beside the file
	limits    *Limits
	maxFile   int64
	begins    bool // whether the body begins with its first boundary
	parts     int
	sessionID string // "" until known
	rate      int    // allowed_sample_rate in Hz; 0 until known
	hasFile   bool   // whether the file's part has begun
}

// next reads parts until that of the file begins, which it returns, or until
// the end of the body: then nil. Every error is an answer.
func (u *upload) next() (file io.Reader, err error) {
	if u.hasFile {
		u.body.left = u.limits.besideFile()
	}
	for {
		part, err := u.mr.NextPart()
		if err == io.EOF {
			return nil, nil
		}
		if err != nil && u.parts == 0 && !u.begins {
			return nil, notMultipart // however much of it there is
		}
		if err != nil {
			return nil, partFault(err)
		}
		if u.parts++; u.parts > u.limits.Parts {
			return nil, refuse(http.StatusNotAcceptable, "the upload has too many parts")
		}
		name := part.FormName()
		if name == "file" {
			if u.hasFile {
				return nil, refuse(http.StatusUnprocessableEntity, "the upload has more than one file")
			}
			u.hasFile = true
			u.body.left = u.maxFile + uploadOverhead
			return part, nil
		}
		text, err := io.ReadAll(io.LimitReader(part, int64(u.limits.Field)+1))
		if err == nil && len(text) > u.limits.Field {
			err = fieldsTooLarge
		}
		if err != nil && !u.hasFile && part.FileName() != "" && errors.Is(partFault(err), fieldsTooLarge) {
			return nil, refuse(http.StatusNotAcceptable, "the upload holds no file in the field \"file\"")
		}
		if err != nil {
			return nil, partFault(err)
		}
		if err := u.set(name, string(text)); err != nil {
			return nil, err
		}
	}
}

// set notes the value of a field. Unknown ones are ignored.
func (u *upload) set(name, text string) error {
	switch name {
	case "session_id":
		if text == "" {
			return nil // the same as none
		}
		if !utf8.ValidString(text) || u.sessionID != "" && u.sessionID != text {
			return refuse(http.StatusUnprocessableEntity, "session_id is malformed")
		}
		u.sessionID = text
	case "allowed_sample_rate":
		rate, ok := toInt(text)
		if !ok || rate < minRate || rate > maxRate || u.rate != 0 && u.rate != rate {
			return refuse(http.StatusUnprocessableEntity,
				fmt.Sprintf("allowed_sample_rate is malformed, want %d to %d", minRate, maxRate))
		}
		u.rate = rate
	}
	return nil
}

// rest reads the parts behind the file.
func (u *upload) rest() error {
	_, err := u.next() // a second file is an error
	return err
}

// uploadFault is the answer to a body that cannot be read.
func uploadFault(err error) error {
	var a *answer
	if errors.As(err, &a) {
		return a
	}
	return notMultipart
}

// partFault is uploadFault for what stands beside the file.
func partFault(err error) error {
	if errors.Is(err, tooLarge) {
		return fieldsTooLarge
	}
	return uploadFault(err)
}

// limitedReader gives at most left bytes; what has more is answered 413.
type limitedReader struct {
	r    io.Reader
	left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, tooLarge
	}
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	l.left -= int64(n)
	if l.left < 0 {
		return n - 1, tooLarge
	}
	return n, err
}

var (
	notMultipart   = refuse(http.StatusNotAcceptable, "the upload broke off or is not a readable multipart body")
	tooLarge       = refuse(http.StatusRequestEntityTooLarge, "the recording is too large")
	fieldsTooLarge = refuse(http.StatusRequestEntityTooLarge, "a field of the upload is too large")
)

// hasRate says whether a file says in its first bytes that it has the rate.
// It only decides how an upload is handled, not whether it is accepted: false
// is always right.
func hasRate(head []byte, rate uint32) bool {
	return len(head) >= 28 && bytes.Equal(head[:4], []byte("RIFF")) && bytes.Equal(head[12:16], []byte("fmt ")) &&
		binary.LittleEndian.Uint32(head[24:]) == rate
}

// fileReader reads the file of an upload and, at its end, the parts behind it:
// it ends only if all of the body could be read and allows the rate at which
// the file is read.
type fileReader struct {
	u    *upload
	r    io.Reader
	rate int   // Hz
	err  error // what ended it
}

// Read fills p as far as the file goes: a part gives at most 4 KiB at once.
func (f *fileReader) Read(p []byte) (n int, err error) {
	if f.err != nil {
		return 0, f.err
	}
	for n < len(p) && err == nil {
		var m int
		m, err = f.r.Read(p[n:])
		n += m
	}
	switch {
	case err == nil:
		return n, nil
	case err != io.EOF:
		f.err = uploadFault(err)
	default:
		f.err = f.u.rest()
		if f.err == nil && f.u.rate != 0 && f.u.rate != f.rate {
			f.err = refuse(http.StatusUnprocessableEntity,
				fmt.Sprintf("audio is not as specified: the sample rate is not %d Hz", f.u.rate))
		}
		if f.err == nil {
			f.err = io.EOF
		}
	}
	if n > 0 {
		return n, nil
	}
	return 0, f.err
}

// spool writes a file to a temporary one and returns a reader of that. It is
// gone when it is closed, or with the process where the system allows. It is
// encrypted, whether the store is or not, under a key that is only in memory.
// Closing it makes what the disk keeps of it unreadable.
func spool(dir string, r io.Reader) (_ *spooled, err error) {
	f, err := os.CreateTemp(dir, "voicescreen-upload-*") // mode 0600
	if err != nil {
		return nil, fmt.Errorf("httpadapter: temporary file: %w", err)
	}
	s := &spooled{file: f}
	os.Remove(f.Name()) // on Windows in Close, where an open file stays
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	key := make([]byte, stream.KeySize)
	rand.Read(key) // never fails
	defer clear(key)
	file := &spoolWriter{f: f}
	w := stream.NewWriter(file, key)
	_, err = io.CopyBuffer(w, r, make([]byte, readAhead))
	if err == nil {
		err = w.Close()
	}
	if file.err != nil {
		return nil, fmt.Errorf("httpadapter: write temporary file: %w", file.err)
	}
	if err != nil {
		return nil, uploadFault(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("httpadapter: rewind temporary file: %w", err)
	}
	s.content = stream.NewReader(f, key)
	return s, nil
}

// spooled is a temporary file.
type spooled struct {
	file    *os.File
	content *stream.Reader
}

func (s *spooled) Read(p []byte) (int, error) { return s.content.Read(p) }

func (s *spooled) Close() error {
	err := s.file.Close()
	os.Remove(s.file.Name())
	return err
}

// spoolWriter tells errors of the disk from those of the network.
type spoolWriter struct {
	f   *os.File
	err error
}

func (w *spoolWriter) Write(p []byte) (int, error) {
	n, err := w.f.Write(p)
	w.err = err
	return n, err
}
