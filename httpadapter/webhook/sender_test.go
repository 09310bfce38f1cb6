package webhook_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"go.uber.org/goleak"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter/webhook"
	"github.com/voicescreen/voicescreen/screen"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// soon bounds every wait of the tests.
const soon = 30 * time.Second

// got is a request that a receiver was sent.
type got struct {
	header http.Header
	body   []byte
}

// receiver is a server on this machine, and a Sender that may reach it.
type receiver struct {
	*httptest.Server
	sender    *webhook.Sender
	endpoints *webhook.Endpoints
	secret    string // of account "clinic"
	log       *bytes.Buffer

	mu     sync.Mutex // protects what follows
	status int        // of the answers
	answer http.HandlerFunc
	got    []got
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{status: http.StatusNoContent, endpoints: webhook.Memory(), log: new(bytes.Buffer)}
	r.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.got = append(r.got, got{req.Header.Clone(), body})
		status, answer := r.status, r.answer
		r.mu.Unlock()
		if answer != nil {
			answer(w, req)
			return
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(r.Close)
	r.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	r.secret = mustSet(t, r.endpoints, "clinic", "https://hooks.example.com/canary")
	r.sender = webhook.New(r.endpoints, &webhook.Options{Logger: slog.New(slog.NewTextHandler(r.log, nil))})
	r.reach(t, r.trust())
	return r
}

// trust returns a configuration that accepts the server's certificate, which is
// for example.com.
func (r *receiver) trust() *tls.Config {
	return &tls.Config{RootCAs: r.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, ServerName: "example.com"}
}

// reach makes the sender connect to the server for any URL.
func (r *receiver) reach(t *testing.T, config *tls.Config) {
	var d net.Dialer
	webhook.Reach(r.sender, config).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return d.DialContext(ctx, network, r.Listener.Addr().String())
	}
	t.Cleanup(r.sender.Close)
}

func (r *receiver) set(status int, answer http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status, r.answer = status, answer
}

func (r *receiver) requests() []got {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// wait returns the first n requests once they are there.
func (r *receiver) wait(t *testing.T, n int) []got {
	t.Helper()
	for end := time.Now().Add(soon); ; time.Sleep(time.Millisecond) {
		if list := r.requests(); len(list) >= n {
			return list
		}
		if time.Now().After(end) {
			t.Fatalf("got %d requests, want %d", len(r.requests()), n)
		}
	}
}

// verify computes a signature as the specification describes it, with nothing
// of this package, and says whether the request bears it.
func verify(t *testing.T, g got, secret string) bool {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(g.header.Get("Webhook-Id")))
	mac.Write([]byte("."))
	mac.Write([]byte(g.header.Get("Webhook-Timestamp")))
	mac.Write([]byte("."))
	mac.Write(g.body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	return slices.Contains(strings.Split(g.header.Get("Webhook-Signature"), " "), want)
}

func notice() voicescreen.Notice {
	return voicescreen.Notice{Account: "clinic", SessionID: "session.1", Status: screen.StatusSuccess, UpdatedAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Attempt: 1}
}

func TestANoticeIsSigned(t *testing.T) {
	r := newReceiver(t)
	if err := r.sender.Send(t.Context(), notice()); err != nil {
		t.Fatal(err)
	}
	rotated, err := r.endpoints.Rotate("clinic", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	again := notice()
	again.Attempt = 2
	if err := r.sender.Send(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	list := r.requests()
	for i, g := range list {
		const want = `{"type":"session.completed","timestamp":"2026-03-01T12:00:00Z","data":{"session_id":"session.1","status":"success"}}`
		if string(g.body) != want {
			t.Errorf("got body %s, want %s", g.body, want)
		}
		if !verify(t, g, r.secret) || verify(t, g, rotated) != (i == 1) {
			t.Errorf("request %d: got signature %q, want those of the secrets that are valid", i, g.header.Get("Webhook-Signature"))
		}
		seconds, err := strconv.ParseInt(g.header.Get("Webhook-Timestamp"), 10, 64)
		if age := time.Since(time.Unix(seconds, 0)); err != nil || age < 0 || age > time.Minute {
			t.Errorf("got timestamp %v old and error %v, want now", age, err)
		}
		if id := g.header.Get("Webhook-Id"); id != list[0].header.Get("Webhook-Id") || !strings.HasPrefix(id, "msg_") || strings.ContainsAny(id, ". \n") {
			t.Errorf("got id %q, want that of the first attempt, %q", id, list[0].header.Get("Webhook-Id"))
		}
		if g.header.Get("Content-Type") != "application/json" {
			t.Errorf("got Content-Type %q", g.header.Get("Content-Type"))
		}
	}
	other := notice()
	other.SessionID = "session.2"
	if webhook.MessageID(other) == webhook.MessageID(notice()) {
		t.Error("two sessions have one id")
	}
}

// TestNoticesAreAsTheDocumentSays validates what is sent against the OpenAPI
// document of the service.
func TestNoticesAreAsTheDocumentSays(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromFile("../openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	operation := doc.Webhooks["session.completed"].Post
	schema := operation.RequestBody.Value.Content.Get("application/json").Schema.Value
	tested := doc.Webhooks["webhook.test"].Post
	testSchema := tested.RequestBody.Value.Content.Get("application/json").Schema.Value
	r := newReceiver(t)
	for _, status := range []screen.Status{screen.StatusSuccess, screen.StatusFailed} {
		n := notice()
		n.Status = status
		if err := r.sender.Send(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.sender.Test(t.Context(), "clinic"); err != nil {
		t.Fatal(err)
	}
	for i, g := range r.requests() {
		if i == 2 {
			operation, schema = tested, testSchema
		}
		var body any
		if err := json.Unmarshal(g.body, &body); err != nil {
			t.Fatal(err)
		}
		if err := schema.VisitJSON(body); err != nil {
			t.Errorf("%s: %v", g.body, err)
		}
		for _, p := range operation.Parameters {
			if g.header.Get(p.Value.Name) == "" {
				t.Errorf("header %s is missing", p.Value.Name)
			}
		}
	}
	if err := schema.VisitJSON(map[string]any{"type": "other"}); err == nil {
		t.Error("the schema takes anything")
	}
}

func TestAnswers(t *testing.T) {
	for status, taken := range map[int]bool{200: true, 201: true, 202: true, 204: true, 299: true, 301: false, 302: false, 307: false, 400: false, 401: false, 404: false, 410: false, 429: false, 500: false, 503: false} {
		r := newReceiver(t)
		r.set(0, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "https://elsewhere.example.com/")
			w.WriteHeader(status)
		})
		err := r.sender.Send(t.Context(), notice())
		if (err == nil) != taken {
			t.Errorf("%d: got error %v, want taken %v", status, err, taken)
		}
		if err != nil && !strings.Contains(err.Error(), strconv.Itoa(status)) {
			t.Errorf("%d: got error %v, want the status named", status, err)
		}
		if n := len(r.requests()); n != 1 {
			t.Errorf("%d: got %d requests, want 1: no redirect is followed", status, n)
		}
		if disabled := len(r.endpoints.Accounts()) == 0; disabled != (status == 410) {
			t.Errorf("%d: got disabled %v", status, disabled)
		}
	}
}

func TestABodyWithoutEndIsNotRead(t *testing.T) {
	r := newReceiver(t)
	ended := make(chan struct{})
	r.set(0, func(w http.ResponseWriter, req *http.Request) {
		defer close(ended)
		block := make([]byte, 64<<10)
		for {
			if _, err := w.Write(block); err != nil || req.Context().Err() != nil {
				return
			}
		}
	})
	if err := r.sender.Send(t.Context(), notice()); err != nil {
		t.Error(err)
	}
	select {
	case <-ended:
	case <-time.After(soon):
		t.Error("the body is still read")
	}
}

// TestErrorsNameNoAddress makes each call fail in another way.
func TestErrorsNameNoAddress(t *testing.T) {
	for name, c := range map[string]struct {
		fault func(t *testing.T, r *receiver, ctx context.Context) context.Context
		says  string
	}{
		"no answer in time": {func(t *testing.T, r *receiver, ctx context.Context) context.Context {
			r.set(0, func(_ http.ResponseWriter, req *http.Request) {
				<-req.Context().Done()
				panic(http.ErrAbortHandler) // a status of 200 could still come through while the client hangs up
			})
			ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
			t.Cleanup(cancel)
			return ctx
		}, "in time"},
		"another certificate": {func(t *testing.T, r *receiver, ctx context.Context) context.Context {
			r.reach(t, nil)
			return ctx
		}, "certificate"},
		"a certificate of another name": {func(t *testing.T, r *receiver, ctx context.Context) context.Context {
			config := r.trust()
			config.ServerName = "canary.org"
			r.reach(t, config)
			return ctx
		}, "certificate"},
		"nobody there": {func(_ *testing.T, r *receiver, ctx context.Context) context.Context {
			r.Close()
			return ctx
		}, "no connection"},
		"a name that is not resolved": {func(_ *testing.T, r *receiver, ctx context.Context) context.Context {
			webhook.Transport(r.sender).DialContext = func(context.Context, string, string) (net.Conn, error) {
				return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Name: "canary"}}
			}
			return ctx
		}, "resolved"},
		"a connection that breaks": {func(_ *testing.T, r *receiver, ctx context.Context) context.Context {
			r.set(0, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
			return ctx
		}, "lost"},
		"a header that is too long": {func(_ *testing.T, r *receiver, ctx context.Context) context.Context {
			r.set(0, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X", strings.Repeat("canary", webhook.MaxHeader))
			})
			return ctx
		}, "lost"},
		"a status that is no success": {func(_ *testing.T, r *receiver, ctx context.Context) context.Context {
			r.set(0, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "canary", 500) })
			return ctx
		}, "500"},
		"no endpoint": {func(_ *testing.T, r *receiver, ctx context.Context) context.Context {
			if err := r.endpoints.Remove("clinic"); err != nil {
				panic(err)
			}
			return ctx
		}, "no endpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReceiver(t)
			err := r.sender.Send(c.fault(t, r, t.Context()), notice())
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got error %v, want one that says %q", err, c.says)
			}
			if text := err.Error() + r.log.String(); strings.Contains(text, "canary") || strings.Contains(text, "example") || strings.Contains(text, "127.0.0.1") || strings.Contains(text, "whsec") {
				t.Errorf("the error or the log names the address: %s", text)
			}
		})
	}
}

// TestTheSenderItselfReachesNothingHere uses the Sender as it comes: the name
// localhost, which Set accepted with a network of its own, resolves to this
// machine.
func TestTheSenderItselfReachesNothingHere(t *testing.T) {
	r := newReceiver(t)
	_, port, err := net.SplitHostPort(r.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	e := webhook.Memory()
	if _, err := e.Set("clinic", "https://localhost:"+port+"/", netip.MustParsePrefix("127.0.0.0/8")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HTTPS_PROXY", r.URL) // which would be asked in its place
	t.Setenv("https_proxy", r.URL)
	s := webhook.New(e, nil)
	defer s.Close()
	if err := s.Send(t.Context(), notice()); !errors.Is(err, webhook.ErrAddress) {
		t.Errorf("got error %v, want %v", err, webhook.ErrAddress)
	}
	if n := len(r.requests()); n > 0 {
		t.Errorf("got %d requests, want none", n)
	}
}
