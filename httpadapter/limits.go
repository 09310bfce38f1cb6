package httpadapter

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// Limits bounds the parts of a request, other than its recording, and the time
// that it may take. Zero fields mean the default.
type Limits struct {
	// Body is the maximum size of a body of fields in bytes. A larger one is
	// answered 413. A session with all metadata has some 500 bytes. Default:
	// 64 KiB.
	Body int

	// Depth is the maximum depth of nested JSON. A deeper body is answered 422.
	// The deepest call has depth 2. Default: 16.
	Depth int

	// Parts is the maximum number of parts of a multipart body. More are answered
	// 406 by the calls that take a recording and 422 by others. The calls have 10
	// fields. Default: 64.
	Parts int

	// Field is the maximum size of one field, other than the recording, in bytes.
	// A larger one is answered 413. All fields, with the headers of their parts,
	// may have Parts*Field bytes. An unknown part is ignored whatever its size,
	// within Options.MaxUpload for the whole body. Default: 4 KiB.
	Field int

	// BodyTime is the maximum time to receive a body of fields. A slower one is
	// answered 422. Default: 10 s, which is 64 KiB at 52 kbit/s.
	BodyTime time.Duration

	// StallTime is the maximum pause between two reads of an upload, and
	// UploadTime the maximum time of the whole upload. A slower one is answered
	// 406. They replace the server's ReadTimeout. Defaults: 30 s, longer than a
	// short interruption of a telephone line, and 10 minutes, which is 100 MiB at
	// 1.4 Mbit/s.
	StallTime  time.Duration
	UploadTime time.Duration

	// Uploads is the maximum number of concurrent submissions of one key. Another
	// one is answered 429, with Retry-After, before it is read. Default: 800,
	// which leaves a fifth of the engine's default queue to other keys while all
	// uploads of one key stall.
	Uploads int

	// AnyFormat accepts recordings in every format that package dsp/audiofile reads,
	// at any rate from 8 to 192 kHz unless allowed_sample_rate is given, and the field
	// channel, which says the channel of a recording with several. Default: WAV of
	// one channel, as the service had it.
	AnyFormat bool
}

func (l Limits) withDefaults() Limits {
	positive(&l.Body, 64<<10)
	positive(&l.Depth, 16)
	positive(&l.Parts, 64)
	positive(&l.Field, 4<<10)
	positive(&l.BodyTime, 10*time.Second)
	positive(&l.StallTime, 30*time.Second)
	positive(&l.UploadTime, requestTime)
	positive(&l.Uploads, 800)
	return l
}

// positive sets *p to value unless it is greater than zero.
func positive[T int | time.Duration](p *T, value T) {
	if *p <= 0 {
		*p = value
	}
}

// besideFile is the maximum number of bytes of a body without its file. At least
// a body of fields fits, for the call that takes either.
func (l *Limits) besideFile() int64 {
	return max(int64(l.Parts)*int64(l.Field), int64(l.Body))
}

// uploads counts the concurrent submissions of each key. It is safe for concurrent
// use.
type uploads struct {
	mu sync.Mutex     // protects n
	n  map[string]int // by key ID; only keys with a submission
}

// enter counts a submission of a key until leave is called. At the limit it
// returns an error, which is an answer.
func (u *uploads) enter(key string, limit int) (leave func(), err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.n == nil {
		u.n = map[string]int{}
	}
	if u.n[key] >= limit {
		a := refuse(http.StatusTooManyRequests, "too many uploads with this API key at once")
		a.header = map[string]string{"Retry-After": retryAfter}
		return nil, a
	}
	u.n[key]++
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.n[key]--; u.n[key] == 0 {
			delete(u.n, key)
		}
	}, nil
}

// timedBody reads a body under read deadlines. It is for one goroutine.
type timedBody struct {
	c     *call
	body  io.Reader
	rc    *http.ResponseController
	stall time.Duration // between two reads
	end   time.Time     // of the whole body
}

// timed returns the body of c. Reading it ends with an error after a pause of
// stall, or after total. Without read deadlines on the connection, as in tests of
// a handler, it has no limit. A second call sets a new total.
func (c *call) timed(stall, total time.Duration) io.Reader {
	if c.r.Body == nil || c.r.Body == http.NoBody {
		return http.NoBody
	}
	end := time.Now().Add(total)
	if c.timer != nil {
		c.timer.end = end
		return c.r.Body
	}
	t := &timedBody{c: c, body: c.r.Body, rc: http.NewResponseController(c.w), stall: stall, end: end}
	if t.rc.SetReadDeadline(end) != nil {
		return c.r.Body
	}
	c.timer = t
	return t
}

func (t *timedBody) Read(p []byte) (int, error) {
	deadline := time.Now().Add(t.stall)
	if deadline.After(t.end) {
		deadline = t.end
	}
	t.rc.SetReadDeadline(deadline)
	n, err := t.body.Read(p)
	switch {
	case err == io.EOF:
		// From here on the server reads to detect a disconnected client: a
		// deadline would look like one.
		t.rc.SetReadDeadline(time.Time{})
	case errors.Is(err, os.ErrDeadlineExceeded):
		t.c.late = true // the deadline stays, so that nothing more is read
	}
	return n, err
}
