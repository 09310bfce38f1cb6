package webhook

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"
)

// What tests outside the package ask of the inside.
const (
	MaxSecrets = maxSecrets
	MaxHeader  = maxHeader
)

var MessageID = messageID

// SetNow sets the clock of endpoints.
func SetNow(e *Endpoints, now func() time.Time) { e.now = now }

// Disable disables an endpoint, as the status 410 of its receiver does.
func Disable(e *Endpoints, account, url string, now time.Time) error {
	return e.disable(account, url, now)
}

// Secrets returns the secrets that sign for an account now.
func Secrets(e *Endpoints, account string) (list []string) {
	if r, ok := e.active(account); ok {
		for _, s := range r.valid(e.now()) {
			list = append(list, s.text())
		}
	}
	return list
}

// Reach gives a sender a new transport, which connects to any address.
func Reach(s *Sender, config *tls.Config) *http.Transport {
	s.client = newClient(&net.Dialer{}, config)
	return Transport(s)
}

// Transport returns the transport of a sender.
func Transport(s *Sender) *http.Transport { return s.client.Transport.(*http.Transport) }

// SetLookup replaces the resolver of names until the end of the test.
func SetLookup(t *testing.T, f func(ctx context.Context, network, host string) ([]netip.Addr, error)) {
	former := lookup
	lookup = f
	t.Cleanup(func() { lookup = former })
}
