package webhook

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

const (
	// dialTimeout is how long a connection, and then its handshake, may take.
	// Chosen: a third of what a call may take.
	dialTimeout = voicescreen.SendTimeout / 3

	// idleTimeout is how long a connection is kept for the next notice.
	// Chosen: results come in bursts.
	idleTimeout = 30 * time.Second

	// maxHeader is how many bytes of header an answer may have; its body is
	// not read. Chosen: more than servers send.
	maxHeader = 32 << 10
)

// Options configures a Sender. Nil and zero fields mean the default.
type Options struct {
	// Logger is told which accounts' endpoints are disabled. Default: none is.
	Logger *slog.Logger

	// Now is the clock, of which the attempts bear the time. Default: time.Now.
	Now func() time.Time
}

// Sender sends notices to endpoints. It is safe for concurrent use.
type Sender struct {
	endpoints *Endpoints
	log       *slog.Logger
	now       func() time.Time
	client    *http.Client
}

// New returns a Sender to the endpoints.
func New(endpoints *Endpoints, opts *Options) *Sender {
	s := &Sender{endpoints: endpoints, log: slog.New(slog.DiscardHandler), now: time.Now}
	if opts != nil && opts.Logger != nil {
		s.log = opts.Logger
	}
	if opts != nil && opts.Now != nil {
		s.now = opts.Now
	}
	s.client = newClient(&net.Dialer{Timeout: dialTimeout, Control: control}, &tls.Config{MinVersion: tls.VersionTLS12})
	return s
}

// newClient returns a client that goes where the dialer goes and nowhere else:
// neither through a proxy nor to where an answer points.
func newClient(dialer *net.Dialer, config *tls.Config) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  nil,
			DialContext:            dialer.DialContext,
			TLSClientConfig:        config,
			TLSHandshakeTimeout:    dialTimeout,
			IdleConnTimeout:        idleTimeout,
			MaxIdleConnsPerHost:    1,
			MaxResponseHeaderBytes: maxHeader,
			DisableCompression:     true,
			ForceAttemptHTTP2:      true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// NotifyOptions returns what makes an engine send its notices with s.
func (s *Sender) NotifyOptions() voicescreen.NotifyOptions {
	return voicescreen.NotifyOptions{Accounts: s.endpoints.Accounts, Send: s.Send}
}

// Close lets go of the connections that are kept for the next notice. The
// Sender can still be used.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// event is the body of a notice.
type event struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      struct {
		SessionID string        `json:"session_id"`
		Status    screen.Status `json:"status"`
	} `json:"data"`
}

// Send makes one attempt at a notice. It returns nil when the receiver took
// it, and otherwise what kind of thing went wrong, without the address.
func (s *Sender) Send(ctx context.Context, n voicescreen.Notice) error {
	e, ok := s.endpoints.live(n.Account)
	if !ok {
		return ErrNoEndpoint
	}
	req, err := s.request(ctx, e, n)
	if err != nil {
		return err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return fmt.Errorf("httpadapter/webhook: %w", kind(ctx, err))
	}
	_ = resp.Body.Close() // unread
	switch {
	case resp.StatusCode >= 200 && resp.StatusCode < 300:
		return nil
	case resp.StatusCode == http.StatusGone:
		if err := s.endpoints.disable(n.Account, e.URL, s.now()); err != nil {
			s.log.Error("disable a webhook that is gone", "account", n.Account, "error", err)
		} else {
			s.log.Warn("the webhook is gone and was disabled", "account", n.Account)
		}
	}
	return fmt.Errorf("httpadapter/webhook: the receiver answered with status %d", resp.StatusCode)
}

// request returns the signed request of a notice.
func (s *Sender) request(ctx context.Context, e *record, n voicescreen.Notice) (*http.Request, error) {
	ev := event{Type: "session.completed", Timestamp: n.UpdatedAt.UTC()}
	ev.Data.SessionID, ev.Data.Status = n.SessionID, n.Status
	body, err := json.Marshal(ev)
	if err != nil {
		return nil, errors.New("httpadapter/webhook: a notice cannot be written")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("httpadapter/webhook: url: is malformed")
	}
	id, now := messageID(n), s.now()
	var signatures []string
	for _, k := range e.valid(now) {
		signatures = append(signatures, k.sign(id, now, body))
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "voicescreen")
	req.Header.Set("webhook-id", id)
	req.Header.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
	req.Header.Set("webhook-signature", strings.Join(signatures, " "))
	return req, nil
}

// messageID is of one notice and no other, the same at every attempt, and
// without a full stop, whatever the session's identifier is made of.
func messageID(n voicescreen.Notice) string {
	h := sha256.New()
	h.Write(binary.AppendUvarint(nil, uint64(len(n.Account)))) // where the account ends
	h.Write([]byte(n.Account))
	h.Write([]byte(n.SessionID))
	return "msg_" + hex.EncodeToString(h.Sum(nil)[:16]) // 128 bits
}

// kind says of an error of a call what an operator must know. The error itself
// may hold the address and names.
func kind(ctx context.Context, err error) error {
	var (
		timeout interface{ Timeout() bool }
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		op      *net.OpError
	)
	switch {
	case errors.Is(err, errAddress):
		return errAddress
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case ctx.Err() != nil, errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("the receiver did not answer in time")
	case errors.As(err, &dns):
		return errors.New("the name of the host was not resolved")
	case errors.As(err, &cert):
		return errors.New("the certificate was not accepted")
	case errors.As(err, &op) && op.Op == "dial":
		return errors.New("the receiver takes no connection")
	}
	return errors.New("the connection broke")
}
