// Package client calls a voice screening service over HTTP: the one of package
// httpadapter, or another with the same interface.
//
//	c, err := client.New("https://screening.example.org", key, nil)
//	id, err := c.Initiate(ctx, client.InitiateRequest{UserID: "patient-17", Consent: true})
//	err = c.Submit(ctx, id, file, nil)
//	result, err := c.Wait(ctx, id)
//
// # Retries
//
// What can be done twice without harm is tried again where the connection
// failed or the service answered 429, 500, 502, 503 or 504: questions,
// feedback, which replaces what was said before, and erasure. A submission is
// tried again where the connection failed before an answer came, and on 429
// and 503, which say that it was not taken. Should the service answer then
// that the session has a recording, the lost submission had reached it, and
// Submit asks for the result to be sure. Opening a session, which makes a new
// one each time, is tried again only where no connection was made, and on 429
// and 503. Between attempts the pause doubles, with chance in it, and is never
// shorter than Retry-After says.
//
// Redirects are not followed: they would hand the API key to another host.
package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Options configures a Client. Nil and zero fields mean the default.
type Options struct {
	// HTTP makes the requests. Its CheckRedirect is not used. Default: a client
	// on http.DefaultTransport without a time-out; contexts set one.
	HTTP *http.Client

	// Attempts is how often a call is tried at most. Default: 4.
	Attempts int

	// Pause is the longest pause before the second attempt; before each later
	// one it is twice as long, at most 10 s. Default: 250 ms.
	Pause time.Duration
}

const (
	defaultAttempts = 4                      // chosen: with the pauses some 2 s, a restart of the service
	defaultPause    = 250 * time.Millisecond // chosen: see defaultAttempts
	maxPause        = 10 * time.Second       // chosen
	maxRetryAfter   = time.Minute            // what is asked for beyond it ends the call. Chosen.
	maxAnswer       = 256 << 20              // bytes of an answer. Chosen: some 500,000 results.
)

// Client calls a service in the account of a key. It is safe for concurrent
// use.
type Client struct {
	base string // without a slash at its end
	key  string
	http http.Client
	opts Options // without zero fields
}

// New returns a client of the service at base, such as
// "https://screening.example.org", that uses an API key.
func New(base, key string, opts *Options) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("client: the base address is no http or https URL")
	}
	if key == "" {
		return nil, errors.New("client: the API key is empty")
	}
	c := &Client{base: strings.TrimRight(u.String(), "/"), key: key}
	if opts != nil {
		c.opts = *opts
	}
	if c.opts.HTTP != nil {
		c.http = *c.opts.HTTP
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if c.opts.Attempts <= 0 {
		c.opts.Attempts = defaultAttempts
	}
	if c.opts.Pause <= 0 {
		c.opts.Pause = defaultPause
	}
	return c, nil
}

// safety says when a call may be tried again.
type safety uint8

const (
	once       safety = iota + 1 // if it has not reached the service
	resolvable                   // also if no answer came: what became of it can be found out
	idempotent                   // always
)

// call is one call, that may take several attempts.
type call struct {
	safety      safety
	method      string
	path        string // behind the base, escaped
	contentType string
	prefer      string
	body        func() (body io.ReadCloser, size int64, err error) // for each attempt; nil for none
}

// reply is the answer to a call.
type reply struct {
	status int
	header http.Header
	body   []byte
	lost   bool // an attempt before this one may have reached the service
}

// do tries a call until it has an answer that trying again will not change.
func (c *Client) do(ctx context.Context, k call) (*reply, error) {
	lost := false
	for attempt := 1; ; attempt++ {
		r, err := c.send(ctx, k)
		if err != nil {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("client: %w", ctx.Err())
			}
			unsent := neverSent(err)
			if attempt == c.opts.Attempts || !unsent && k.safety == once {
				return nil, fmt.Errorf("client: %w", err)
			}
			lost = lost || !unsent
			if err := c.pause(ctx, attempt, 0); err != nil {
				return nil, err
			}
			continue
		}
		r.lost = lost
		after := retryAfter(r.header)
		if attempt == c.opts.Attempts || !k.again(r.status) || after > maxRetryAfter {
			return r, nil
		}
		lost = lost || !untaken(r.status)
		if err := c.pause(ctx, attempt, after); err != nil {
			return nil, err
		}
	}
}

// again says whether the call may be tried again after an answer.
func (k *call) again(status int) bool {
	switch status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		return k.safety == idempotent
	}
	return untaken(status)
}

// untaken says whether an answer means that the service did not take the call.
func untaken(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// send makes one attempt.
func (c *Client) send(ctx context.Context, k call) (*reply, error) {
	req, err := http.NewRequestWithContext(ctx, k.method, c.base+k.path, nil)
	if err != nil {
		return nil, err
	}
	if k.body != nil {
		if req.Body, req.ContentLength, err = k.body(); err != nil {
			return nil, err
		}
		// For net/http, should the service have closed the connection that it
		// kept before anything of this was written.
		req.GetBody = func() (io.ReadCloser, error) {
			body, _, err := k.body()
			return body, err
		}
	}
	req.Header.Set("X-API-Key", c.key)
	req.Header.Set("Accept", "application/json")
	if k.contentType != "" {
		req.Header.Set("Content-Type", k.contentType)
	}
	if k.prefer != "" {
		req.Header.Set("Prefer", k.prefer)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the URL, which may name a person
		}
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("the answer is larger than %d bytes", maxAnswer)
	}
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return &reply{status: resp.StatusCode, header: resp.Header, body: body}, nil
}

// neverSent says whether an attempt failed before anything of it was sent:
// there was no connection, or no body.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// pause waits before the next attempt: a random part of Pause, doubled for
// each attempt, and not less than after.
func (c *Client) pause(ctx context.Context, attempt int, after time.Duration) error {
	longest := min(c.opts.Pause<<min(attempt-1, 20), maxPause)
	return sleep(ctx, max(after, time.Duration(rand.Int64N(int64(longest))+1)))
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("client: %w", ctx.Err())
	}
}

// retryAfter is the time of a Retry-After header in seconds; 0 if there is
// none.
func retryAfter(h http.Header) time.Duration {
	n, err := strconv.ParseUint(h.Get("Retry-After"), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}

// segment escapes an identifier for a path.
func segment(id string) string {
	if id == "." || id == ".." { // which some proxies take for directories
		return strings.ReplaceAll(id, ".", "%2E")
	}
	return url.PathEscape(id)
}
