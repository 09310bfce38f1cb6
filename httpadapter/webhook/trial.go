package webhook

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/voicescreen/voicescreen"
)

// maxAnswer is how much of the body of an answer to a test event is kept, in
// bytes. Chosen: a screen of text.
const maxAnswer = 1 << 10

// Answer is what a receiver answered to a test event.
type Answer struct {
	Status int           // of HTTP; from 200 to 299 the receiver accepts notices
	Body   []byte        // its first 1,024 bytes
	Took   time.Duration // from the beginning of the call to the end of Body
}

// Accepted returns whether a notice with this answer would be delivered.
func (a *Answer) Accepted() bool { return a.Status >= 200 && a.Status < 300 }

// testEvent is the body of a test event.
type testEvent struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      struct{}  `json:"data"`
}

// Test sends one event of the type webhook.test, which is about no session, to an
// account's endpoint, active or disabled, and returns the answer. It is signed as a
// notice is, has the time of a notice, SendTimeout, and changes nothing that is
// stored. The error is ErrNoEndpoint for an account without an endpoint, or wraps
// ErrAddress for an address that is not allowed. Unlike that of Send, the error of
// a call that fails holds the text of the system, which may name the host.
func (s *Sender) Test(ctx context.Context, account string) (*Answer, error) {
	endpoints, err := s.endpoints.file.Read()
	if err != nil {
		return nil, err
	}
	e := endpoints.records[account]
	if e == nil {
		return nil, ErrNoEndpoint
	}
	ctx, cancel := context.WithTimeout(ctx, voicescreen.SendTimeout)
	defer cancel()
	body, err := json.Marshal(testEvent{Type: "webhook.test", Timestamp: s.now().UTC().Truncate(time.Second)})
	if err != nil {
		return nil, errors.New("httpadapter/webhook: an event cannot be written")
	}
	req, err := s.request(ctx, e, "msg_test_"+rand.Text(), body)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	resp, err := s.client.Do(req)
	if err != nil {
		k := kind(ctx, err)
		var detail *url.Error
		if errors.As(err, &detail) && !errors.Is(k, ErrAddress) {
			return nil, fmt.Errorf("httpadapter/webhook: %w: %v", k, detail.Err)
		}
		return nil, fmt.Errorf("httpadapter/webhook: %w", k)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer)) // a body that breaks off changes nothing: the status decides
	return &Answer{Status: resp.StatusCode, Body: text, Took: time.Since(begin)}, nil
}
