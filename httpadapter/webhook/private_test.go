package webhook_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter/webhook"
)

var (
	loopback4 = netip.MustParsePrefix("127.0.0.0/8")
	premises  = netip.MustParsePrefix("10.1.0.0/16")
)

func TestSetRefusesWhatCanNeverBeDelivered(t *testing.T) {
	for url, allow := range map[string]netip.Prefix{ // that allows it; zero: nothing does
		"https://localhost/canary":        loopback4,
		"https://LOCALHOST.:8443/canary":  loopback4,
		"https://a.localhost/canary":      netip.MustParsePrefix("::1/128"),
		"https://127.0.0.1:8443/canary":   loopback4,
		"https://10.1.2.3/canary":         premises,
		"https://[fd00::7]/canary":        netip.MustParsePrefix("fd00::/8"),
		"https://a.example:0/canary":      {},
		"https://a.example:65536/canary":  {},
		"https://a.example:999999/canary": {},
	} {
		e := webhook.Memory()
		_, err := e.Set("a", url)
		if !errors.Is(err, voicescreen.ErrInvalid) || errors.Is(err, webhook.ErrAddress) != allow.IsValid() || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: got error %v, want an invalid argument without the address", url, err)
		}
		if list, _ := e.List(); len(list) > 0 {
			t.Errorf("%s: was stored all the same", url)
		}
		if !allow.IsValid() {
			continue
		}
		if _, err := e.Set("a", url, netip.MustParsePrefix("192.168.0.0/16")); !errors.Is(err, webhook.ErrAddress) {
			t.Errorf("%s: got error %v with another network, want %v", url, err, webhook.ErrAddress)
		}
		if _, err := e.Set("a", url, netip.MustParsePrefix("192.168.0.0/16"), allow); err != nil {
			t.Errorf("%s: got error %v with its network", url, err)
		}
	}
}

func TestAPrivateAddressIsReadAgain(t *testing.T) {
	e, path, _ := opened(t)
	if _, err := e.Set("a", "https://10.1.2.3/hook", premises); err != nil {
		t.Fatal(err)
	}
	other, err := webhook.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := other.List(); err != nil || len(list) != 1 || list[0].URL != "https://10.1.2.3/hook" {
		t.Errorf("got %v and error %v", list, err)
	}
	mustSet(t, other, "b", urlA)
	for _, c := range []struct {
		allow []netip.Prefix
		want  []string
	}{{nil, []string{"a"}}, {[]netip.Prefix{loopback4}, []string{"a"}}, {[]netip.Prefix{loopback4, premises}, nil}} {
		s := webhook.New(other, &webhook.Options{AllowPrivate: c.allow})
		if got := s.Undeliverable(); !slices.Equal(got, c.want) {
			t.Errorf("with %v: got undeliverable %v, want %v", c.allow, got, c.want)
		}
	}
}

// TestTheSenderReachesWhatIsAllowed uses the Sender as it comes, but for the
// certificate of the server.
func TestTheSenderReachesWhatIsAllowed(t *testing.T) {
	r := newReceiver(t)
	_, port, err := net.SplitHostPort(r.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		allow   []netip.Prefix
		reaches bool
	}{{nil, false}, {[]netip.Prefix{premises}, false}, {[]netip.Prefix{premises, loopback4}, true}} {
		e := webhook.Memory()
		if _, err := e.Set("clinic", "https://127.0.0.1:"+port+"/", loopback4); err != nil {
			t.Fatal(err)
		}
		s := webhook.New(e, &webhook.Options{AllowPrivate: c.allow})
		webhook.Transport(s).TLSClientConfig.RootCAs = r.trust().RootCAs
		before := len(r.requests())
		err := s.Send(t.Context(), notice())
		if (err == nil) != c.reaches || err != nil && !errors.Is(err, webhook.ErrAddress) {
			t.Errorf("with %v: got error %v, want it to be reached: %v", c.allow, err, c.reaches)
		}
		if n := len(r.requests()) - before; (n == 1) != c.reaches {
			t.Errorf("with %v: got %d requests", c.allow, n)
		}
		s.Close()
	}
}

func TestResolve(t *testing.T) {
	webhook.SetLookup(t, func(_ context.Context, _, host string) ([]netip.Addr, error) {
		switch host {
		case "public.example":
			return []netip.Addr{netip.MustParseAddr("10.1.2.3"), netip.MustParseAddr("1.1.1.1")}, nil
		case "premises.example":
			return []netip.Addr{netip.MustParseAddr("::ffff:10.1.2.3"), netip.MustParseAddr("fd00::1")}, nil
		}
		return nil, &net.DNSError{Name: host, Err: "canary", IsNotFound: true}
	})
	for url, want := range map[string]string{
		"https://public.example/canary":   "",
		"https://1.1.1.1/canary":          "",
		"https://premises.example/canary": "not a public one",
		"https://10.1.2.3/canary":         "not a public one",
		"https://localhost/canary":        "not a public one",
		"https://unknown.example/canary":  "not resolved",
		"http://public.example/canary":    "https",
	} {
		err := webhook.Resolve(t.Context(), url)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary")) {
			t.Errorf("%s: got error %v, want %q", url, err, want)
		}
		if err != nil && errors.Is(err, webhook.ErrAddress) != (want == "not a public one") {
			t.Errorf("%s: got error %v, is it ErrAddress?", url, err)
		}
	}
	if err := webhook.Resolve(t.Context(), "https://premises.example/", premises); err != nil {
		t.Errorf("an address in a network that is allowed: %v", err)
	}
}

func TestATestEvent(t *testing.T) {
	r := newReceiver(t)
	r.set(0, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte("short and stout" + strings.Repeat(".", 5000)))
	})
	a, err := r.sender.Test(t.Context(), "clinic")
	if err != nil || a.Status != http.StatusTeapot || a.Accepted() || !strings.HasPrefix(string(a.Body), "short and stout.") || len(a.Body) != 1024 || a.Took <= 0 {
		t.Fatalf("got %+v and error %v, want the answer and 1 KiB of its body", a, err)
	}
	g := r.requests()[0]
	if !verify(t, g, r.secret) || !strings.HasPrefix(string(g.body), `{"type":"webhook.test","timestamp":"2`) || !strings.HasSuffix(string(g.body), `,"data":{}}`) {
		t.Errorf("got body %s and header %v, want a signed event of the type webhook.test", g.body, g.header)
	}
	r.set(http.StatusGone, nil)
	if a, err := r.sender.Test(t.Context(), "clinic"); err != nil || a.Status != http.StatusGone || len(r.endpoints.Accounts()) != 1 {
		t.Errorf("got %+v and error %v, want 410, and the endpoint active as before", a, err)
	}
	r.set(http.StatusNoContent, nil)
	if a, err := r.sender.Test(t.Context(), "clinic"); err != nil || !a.Accepted() {
		t.Errorf("got %+v and error %v, want the event accepted", a, err)
	}
	if _, err := r.sender.Test(t.Context(), "nobody"); !errors.Is(err, webhook.ErrNoEndpoint) {
		t.Errorf("got error %v, want %v", err, webhook.ErrNoEndpoint)
	}
	if list, err := r.endpoints.Deliveries(); err != nil || !list[0].DeliveredAt.IsZero() || !list[0].FailedAt.IsZero() {
		t.Errorf("got deliveries %+v and error %v, want none of a test", list, err)
	}
	r.sender.Close()
	r.Close()
	if _, err := r.sender.Test(t.Context(), "clinic"); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("got error %v, want the text of the system", err)
	}
}
