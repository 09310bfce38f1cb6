package httpadapter

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// Limits bounds what one request may hold and how long it may take, beside the
// size of its recording. Zero fields mean the default.
type Limits struct {
	// Body is the size of a body of fields in bytes; larger ones are answered
	// 413. The longest that makes sense, a session with all metadata, has some
	// 500 bytes. Default: 64 KiB.
	Body int

	// Depth is how deep JSON may nest; deeper is answered 422. The deepest call
	// has 2. Default: 16.
	Depth int

	// Parts is how many parts a multipart body may have; more are answered 406
	// by the calls that take a recording and 422 by others. The calls know 10
	// fields. Default: 64.
	Parts int

	// Field is the size of one field beside the recording in bytes; larger ones
	// are answered 413. All that a body has beside the recording, the headers
	// of its parts too, may have Parts*Field bytes. Default: 4 KiB.
	Field int

	// BodyTime is how long a body of fields may take to come in; slower ones
	// are answered 422. Default: 10 s, in which 64 KiB come over a line of
	// 52 kbit/s.
	BodyTime time.Duration

	// StallTime is how long nothing may come of an upload, and UploadTime how
	// long all of it may take; then it is answered 406. Defaults: 30 s, longer
	// than a telephone line's hiccup, and 10 minutes, in which 100 MiB come
	// over a line of 1.4 Mbit/s. They replace a server's ReadTimeout.
	StallTime  time.Duration
	UploadTime time.Duration

	// Uploads is how many submissions of one key may be on their way at once;
	// more are answered 429, with Retry-After, before they are read. Default:
	// 800, which leaves a fifth of an engine's queue, as it is by default, to
	// other keys, however many of this one's stall.
	Uploads int
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

// positive sets what is not greater than zero to its default.
func positive[T int | time.Duration](p *T, value T) {
	if *p <= 0 {
		*p = value
	}
}

// besideFile is how many bytes a body may have beside its file. A body of
// fields must fit, where the two share a call.
func (l *Limits) besideFile() int64 {
	return max(int64(l.Parts)*int64(l.Field), int64(l.Body))
}

// uploads counts the submissions of each key that are on their way. It is safe
// for concurrent use.
type uploads struct {
	mu sync.Mutex     // protects n
	n  map[string]int // by key ID; without those that have none
}

// enter counts a submission of a key until leave is called, and refuses it if
// there are limit already.
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

// timedBody reads a body that must not come too slowly. It is for one
// goroutine.
type timedBody struct {
	c     *call
	body  io.Reader
	rc    *http.ResponseController
	stall time.Duration
	end   time.Time // of all of it
}

// timed returns the body of c, that ends with an error when nothing came for
// stall, or not all within total. Where the connection knows no deadlines, as
// in tests of a handler, it does not. Called again it sets a new total.
func (c *call) timed(stall, total time.Duration) io.Reader {
	if c.r.Body == nil || c.r.Body == http.NoBody {
		return http.NoBody
	}
	end := time.Now().Add(total)
	if c.timer != nil { // it is timed already
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
		// From here on the server reads to see whether the client goes: that
		// must not look as if it had.
		t.rc.SetReadDeadline(time.Time{})
	case errors.Is(err, os.ErrDeadlineExceeded):
		t.c.late = true // the deadline stays: nothing more is read
	}
	return n, err
}
