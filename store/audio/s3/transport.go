package s3

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
)

// dialTimeout bounds the time until a connection stands. Chosen: three times what the
// second repetition of a lost packet takes.
const dialTimeout = 10 * time.Second

// errTimeout is the cause with which transport ends a request.
var errTimeout = errors.New("the server did not answer in time")

// transport bounds how long a request may take until its answer begins, and how long the
// answer may pause. It is safe for concurrent use.
type transport struct {
	next    http.RoundTripper
	timeout time.Duration
}

func newTransport(secure bool, timeout time.Duration) (*transport, error) {
	t, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, err
	}
	t.DialContext = (&net.Dialer{Timeout: min(dialTimeout, timeout), KeepAlive: 15 * time.Second}).DialContext
	t.MaxIdleConnsPerHost = 64 // chosen: as many as uploads at a time
	return &transport{t, timeout}, nil
}

// RoundTrip is described at [http.RoundTripper].
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(t.timeout, func() { cancel(errTimeout) })
	resp, err := t.next.RoundTrip(req.WithContext(ctx))
	timer.Stop()
	if err != nil {
		if req.Context().Err() == nil && errors.Is(context.Cause(ctx), errTimeout) {
			err = errTimeout
		}
		cancel(nil)
		return nil, err
	}
	if at, ok := ctx.Value(timeKey{}).(*serverTime); ok {
		at.set(resp.Header.Get("Date"))
	}
	resp.Body = &timedBody{resp.Body, ctx, cancel, t.timeout}
	return resp, nil
}

// timedBody ends the request if a Read takes too long.
type timedBody struct {
	io.ReadCloser
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timeout time.Duration
}

func (b *timedBody) Read(p []byte) (int, error) {
	timer := time.AfterFunc(b.timeout, func() { b.cancel(errTimeout) })
	n, err := b.ReadCloser.Read(p)
	timer.Stop()
	if err != nil && err != io.EOF && errors.Is(context.Cause(b.ctx), errTimeout) {
		err = errTimeout
	}
	return n, err
}

func (b *timedBody) Close() error {
	b.cancel(nil)
	return b.ReadCloser.Close()
}

// serverTime receives the time at which the server answered the first request of a
// context. It is safe for concurrent use.
type serverTime struct{ unix atomic.Int64 }

// timeKey is the key of a *serverTime in a context.
type timeKey struct{}

// withServerTime returns a context whose first answer sets the time.
func withServerTime(ctx context.Context) (context.Context, *serverTime) {
	at := &serverTime{}
	return context.WithValue(ctx, timeKey{}, at), at
}

// set takes the header Date of an answer.
func (s *serverTime) set(date string) {
	if t, err := http.ParseTime(date); err == nil {
		s.unix.CompareAndSwap(0, t.Unix())
	}
}

// get returns the time, and whether the server sent it.
func (s *serverTime) get() (time.Time, bool) {
	unix := s.unix.Load()
	return time.Unix(unix, 0), unix != 0
}
