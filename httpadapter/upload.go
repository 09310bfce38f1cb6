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

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/internal/stream"
	"github.com/voicescreen/voicescreen/screen"
)

const (
	serviceRate = 44100 // Hz, without allowed_sample_rate
	minRate     = 8000  // Hz, the bounds of allowed_sample_rate
	maxRate     = 48000

	maxChannel = 64 // the most channels of a WAV file that are read

	// uploadOverhead is added to the size of the largest file for the maximum
	// Content-Length, in bytes. Limits bounds the parts beside the file.
	uploadOverhead = 1 << 20

	// readAhead is the size of the buffer of a file in bytes.
	readAhead = 32 << 10
)

// upload reads the parts of a multipart body, in any order.
type upload struct {
	mr        *multipart.Reader
	body      *limitedReader // under mr: bounds the fields and the headers of the parts
	limits    *Limits
	maxFile   int64
	begins    bool // whether the body begins with the boundary
	parts     int
	sessionID string        // "" until known
	rate      int           // allowed_sample_rate in Hz; 0 until known
	channel   int           // from 1 on; 0 until known
	speech    screen.Speech // how the person speaks; 0 until known
	hasFile   bool          // whether the file's part has begun
	misnamed  bool          // whether an unknown part has a file name
}

// next reads parts until the part of the file, which it returns, or until the end
// of the body, where it returns nil. Every error is an answer.
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
			return nil, notMultipart // even if it is too large as well
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
		if !u.isField(name) {
			u.misnamed = u.misnamed || part.FileName() != ""
			if err := u.skip(part); err != nil {
				return nil, err
			}
			continue
		}
		text, err := io.ReadAll(io.LimitReader(part, int64(u.limits.Field)+1))
		if err == nil && len(text) > u.limits.Field {
			err = fieldsTooLarge
		}
		if err != nil {
			return nil, partFault(err)
		}
		if err := u.set(name, string(text)); err != nil {
			return nil, err
		}
	}
}

// isField returns whether set knows the name of a part.
func (u *upload) isField(name string) bool {
	return name == "channel" && u.limits.AnyFormat || name == "session_id" || name == "allowed_sample_rate" || name == "speech"
}

// skip reads and discards an unknown part, within the limit of the whole body.
func (u *upload) skip(part io.Reader) error {
	u.body.left = u.maxFile + uploadOverhead
	if _, err := io.Copy(io.Discard, part); err != nil {
		return uploadFault(err)
	}
	u.body.left = u.limits.besideFile() + readAhead // of what follows, some is read already
	return nil
}

// noFile is the answer to an upload without a file.
func (u *upload) noFile() *answer {
	if u.misnamed {
		return refuse(http.StatusNotAcceptable, "the upload holds no file in the field \"file\"")
	}
	return refuse(http.StatusNotAcceptable, "the upload holds no file")
}

// set keeps the value of a field.
func (u *upload) set(name, text string) error {
	switch name {
	case "session_id":
		if text == "" {
			return nil // as without the field
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
	case "channel":
		channel, ok := toInt(text)
		if !ok || channel < 1 || channel > maxChannel || u.channel != 0 && u.channel != channel {
			return refuse(http.StatusUnprocessableEntity, fmt.Sprintf("channel is malformed, want 1 to %d", maxChannel))
		}
		u.channel = channel
	case "speech":
		if text == "" {
			return nil // as without the field
		}
		speech, err := screen.ParseSpeech(text)
		if err != nil || u.speech != 0 && u.speech != speech {
			return refuse(http.StatusUnprocessableEntity, "speech is malformed, want free, picture or reading")
		}
		u.speech = speech
	}
	return nil
}

// rest reads the parts after the file.
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

// partFault is uploadFault for the parts beside the file.
func partFault(err error) error {
	if errors.Is(err, tooLarge) {
		return fieldsTooLarge
	}
	return uploadFault(err)
}

// limitedReader reads at most left bytes. More is the error fault, which is the
// answer 413.
type limitedReader struct {
	r     io.Reader
	left  int64
	fault *answer
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, l.fault
	}
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	l.left -= int64(n)
	if l.left < 0 {
		return n - 1, l.fault
	}
	return n, err
}

var (
	notUpload      = refuse(http.StatusNotAcceptable, "the body is not multipart/form-data")
	notMultipart   = refuse(http.StatusNotAcceptable, "the upload broke off or is not a readable multipart body")
	tooLarge       = refuse(http.StatusRequestEntityTooLarge, "the recording is too large")
	uploadTooLarge = refuse(http.StatusRequestEntityTooLarge, "the upload is too large")
	fieldsTooLarge = refuse(http.StatusRequestEntityTooLarge, "a field of the upload is too large")
)

// hasRate returns whether the header of a WAV file begins with its format and has
// the rate. A wrong false costs a temporary file; acceptance does not depend on
// it.
func hasRate(head []byte, rate uint32) bool {
	return len(head) >= 28 && bytes.Equal(head[:4], []byte("RIFF")) && bytes.Equal(head[12:16], []byte("fmt ")) &&
		binary.LittleEndian.Uint32(head[24:]) == rate
}

// fileReader reads the file of an upload and, at its end, the parts after it. It
// returns io.EOF only if the whole body could be read and allows the rate at
// which the file is read.
type fileReader struct {
	u    *upload
	r    io.Reader
	opts *voicescreen.SubmitOptions // gets the way of speaking, which may stand after the file
	rate int                        // Hz
	err  error                      // of all later calls
}

// Read fills p unless the file ends: a part reads at most 4 KiB at once.
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
		f.opts.Speech = f.u.speech
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

// spool copies r to a temporary file and returns a reader of it. The file has no
// name in the directory, or on Windows is removed by Close. It is always
// encrypted, under a key that is only in memory, so that the disk keeps nothing
// readable after Close.
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

// spooled reads a temporary file.
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

// spoolWriter keeps the error of the disk apart from errors of the network.
type spoolWriter struct {
	f   *os.File
	err error
}

func (w *spoolWriter) Write(p []byte) (int, error) {
	n, err := w.f.Write(p)
	w.err = err
	return n, err
}
