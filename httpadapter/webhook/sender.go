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
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

const (
	// dialTimeout is the maximum time to connect, and then to make the TLS
	// handshake. Chosen: a third of the time of a call.
	dialTimeout = voicescreen.SendTimeout / 3

	// idleTimeout is the time for which a connection is kept for the next notice.
	// Chosen: results come in bursts.
	idleTimeout = 30 * time.Second

	// maxHeader is the maximum size of the header of an answer in bytes. The body
	// is not read. Chosen: more than servers send.
	maxHeader = 32 << 10
)

// Options configures a Sender. Nil and zero fields mean the default.
type Options struct {
	// Logger receives a line for each endpoint that is disabled. Default: no log.
	Logger *slog.Logger

	// Now is the clock for the time of an attempt. Default: time.Now.
	Now func() time.Time

	// AllowPrivate holds the networks beside the public ones that notices may be
	// sent to, for receivers on premises and for development. Default: none.
	AllowPrivate []netip.Prefix
}

// Sender sends notices to endpoints. It is safe for concurrent use.
type Sender struct {
	endpoints *Endpoints
	log       *slog.Logger
	now       func() time.Time
	client    *http.Client
	allow     []netip.Prefix
	recorder  recorder
}

// New returns a Sender of notices to the endpoints.
func New(endpoints *Endpoints, opts *Options) *Sender {
	s := &Sender{endpoints: endpoints, log: slog.New(slog.DiscardHandler), now: time.Now}
	if opts != nil && opts.Logger != nil {
		s.log = opts.Logger
	}
	if opts != nil && opts.Now != nil {
		s.now = opts.Now
	}
	if opts != nil {
		s.allow = slices.Clone(opts.AllowPrivate)
	}
	s.recorder = recorder{endpoints: endpoints, log: s.log}
	s.client = newClient(&net.Dialer{Timeout: dialTimeout, Control: control(s.allow...)}, &tls.Config{MinVersion: tls.VersionTLS12})
	return s
}

// newClient returns a client that connects with the dialer only: it uses no proxy
// and follows no redirect.
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

// NotifyOptions returns the options of an engine that sends its notices with s.
func (s *Sender) NotifyOptions() voicescreen.NotifyOptions {
	return voicescreen.NotifyOptions{Accounts: s.endpoints.Accounts, Send: s.Send}
}

// Close closes the connections that are kept for the next notice, and stores the
// outcomes of the last notices. The Sender can still be used.
func (s *Sender) Close() {
	s.client.CloseIdleConnections()
	s.recorder.write()
}

// Undeliverable returns the accounts whose URL has an address, or the name
// localhost, to which this Sender sends nothing: it is neither public nor in
// Options.AllowPrivate. Other names are not resolved.
func (s *Sender) Undeliverable() (accounts []string) {
	for _, account := range s.endpoints.Accounts() {
		if e, ok := s.endpoints.active(account); ok && errors.Is(checkNew(e.URL, s.allow...), ErrAddress) {
			accounts = append(accounts, account)
		}
	}
	return accounts
}

// event is the body of a notice.
type event struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      struct {
		SessionID string        `json:"session_id"`
		Status    screen.Status `json:"status"`
	} `json:"data"`
}

// Send makes one attempt to deliver a notice. It returns nil if the receiver
// accepted it, ErrNoEndpoint for an account without an active endpoint, and
// otherwise the kind of the fault. The error does not hold the URL.
func (s *Sender) Send(ctx context.Context, n voicescreen.Notice) error {
	e, ok := s.endpoints.active(n.Account)
	if !ok {
		return ErrNoEndpoint
	}
	err := s.attempt(ctx, e, n)
	s.record(n.Account, err)
	return err
}

// attempt makes one attempt to deliver a notice to an endpoint.
func (s *Sender) attempt(ctx context.Context, e *record, n voicescreen.Notice) error {
	ev := event{Type: "session.completed", Timestamp: n.UpdatedAt.UTC()}
	ev.Data.SessionID, ev.Data.Status = n.SessionID, n.Status
	body, err := json.Marshal(ev)
	if err != nil {
		return errors.New("httpadapter/webhook: a notice cannot be written")
	}
	req, err := s.request(ctx, e, messageID(n), body)
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
			s.log.Error("webhook answered 410 and could not be disabled", "account", n.Account, "error", err)
		} else {
			s.log.Warn("webhook answered 410 and was disabled", "account", n.Account)
		}
	}
	return fmt.Errorf("httpadapter/webhook: the receiver answered with status %d", resp.StatusCode)
}

// request returns the signed request with a body to an endpoint.
func (s *Sender) request(ctx context.Context, e *record, id string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("httpadapter/webhook: url: is malformed")
	}
	now := s.now()
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

// messageID returns the identifier of a notice: unique, the same at every attempt,
// and without a full stop for any identifier of a session.
func messageID(n voicescreen.Notice) string {
	h := sha256.New()
	h.Write(binary.AppendUvarint(nil, uint64(len(n.Account)))) // where the account ends
	h.Write([]byte(n.Account))
	h.Write([]byte(n.SessionID))
	return "msg_" + hex.EncodeToString(h.Sum(nil)[:16]) // 128 bits
}

// kind returns an error for the operator's log in place of the error of a call,
// which may hold the URL and names.
func kind(ctx context.Context, err error) error {
	var (
		timeout interface{ Timeout() bool }
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		op      *net.OpError
	)
	switch {
	case errors.Is(err, ErrAddress):
		return ErrAddress
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case ctx.Err() != nil, errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("the receiver did not answer in time")
	case errors.As(err, &dns):
		return errors.New("the name of the host was not resolved")
	case errors.As(err, &cert):
		return errors.New("the certificate was not accepted")
	case errors.As(err, &op) && op.Op == "dial":
		return errors.New("no connection to the receiver")
	}
	return errors.New("the connection was lost")
}
