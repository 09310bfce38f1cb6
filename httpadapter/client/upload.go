package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"strconv"
	"strings"
	"sync"
)

// upload is the multipart body of a submission, that can be sent several
// times. The recording is not held in memory.
type upload struct {
	head, tail []byte // what stands before and behind the recording
	boundary   string
	recording  io.ReadSeeker
	start      int64 // of the recording, and its size
	size       int64
	last       *attempt // that reads the recording, or did
}

func newUpload(sessionID string, o SubmitOptions, recording io.ReadSeeker) (*upload, error) {
	u := &upload{recording: recording}
	var err error
	if u.start, err = recording.Seek(0, io.SeekCurrent); err == nil {
		u.size, err = recording.Seek(0, io.SeekEnd)
		u.size -= u.start
	}
	if err != nil {
		return nil, fmt.Errorf("client: size of the recording: %w", err)
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	u.boundary = w.Boundary()
	err = w.WriteField("session_id", sessionID)
	if err == nil && o.SampleRate != 0 {
		err = w.WriteField("allowed_sample_rate", strconv.Itoa(o.SampleRate))
	}
	if err == nil && o.Speech != 0 {
		err = w.WriteField("speech", o.Speech.String())
	}
	if err == nil {
		_, err = w.CreateFormFile("file", "recording.wav")
	}
	if err != nil {
		return nil, fmt.Errorf("client: write a form: %w", err) // a buffer takes everything
	}
	u.head, u.tail = bytes.Clone(b.Bytes()), []byte("\r\n--"+u.boundary+"--\r\n")
	return u, nil
}

func (u *upload) contentType() string { return "multipart/form-data; boundary=" + u.boundary }

// close ends the last attempt, which may still be read by its connection: from
// here on the recording is the caller's.
func (u *upload) close() {
	if u.last != nil {
		u.last.Close()
	}
}

// open returns the body for one more attempt.
func (u *upload) open() (io.ReadCloser, int64, error) {
	u.close()
	if _, err := u.recording.Seek(u.start, io.SeekStart); err != nil {
		return nil, 0, fmt.Errorf("rewind the recording: %w", err)
	}
	u.last = &attempt{r: io.MultiReader(bytes.NewReader(u.head), io.LimitReader(u.recording, u.size), strings.NewReader(string(u.tail)))}
	return u.last, int64(len(u.head)) + u.size + int64(len(u.tail)), nil
}

// attempt reads the body once.
type attempt struct {
	mu sync.Mutex // protects r
	r  io.Reader  // nil once it is closed
}

var errClosed = errors.New("the attempt is over")

func (a *attempt) Read(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.r == nil {
		return 0, errClosed
	}
	return a.r.Read(p)
}

// Close ends the attempt; when it returns, nothing reads the recording.
func (a *attempt) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.r = nil
	return nil
}
