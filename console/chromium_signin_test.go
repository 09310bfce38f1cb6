package console_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/voicescreen/voicescreen/internal/proof/chromium"
)

// TestSignInWithoutTLSInTheBrowser signs in at an address of http that is not this
// machine. There Chromium sends no Sec-Fetch-Site, and the console knows the site by Origin.
func TestSignInWithoutTLSInTheBrowser(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	at, err := url.Parse(s.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(at)
	proxy.Transport = s.server.Client().Transport
	proxy.ModifyResponse = func(r *http.Response) error {
		r.Header.Del("Cross-Origin-Opener-Policy") // Chromium reports an error where there is no TLS
		return nil
	}
	front := httptest.NewServer(proxy)
	t.Cleanup(front.Close)
	port := front.URL[strings.LastIndex(front.URL, ":"):]
	w := chromium.Open(t, chromium.Desktop, chromedp.Flag("host-resolver-rules", "MAP clinic.example 127.0.0.1"))
	w.Go("http://clinic.example" + port + "/console/sign-in")
	w.Do("sign in", chromedp.SetValue(chromedp.CSS("input[name=key]"), s.key), chromedp.Submit(chromedp.CSS("input[name=key]")))
	w.WaitFor("the sentence that signing in needs https://", `document.readyState == "complete" && document.querySelector("main")?.textContent.includes("needs an address that begins with https://")`)
}

// TestPagesThatWereKeptAreLoadedAgain goes back to a result after the sign-in has ended at
// the server. Chromium keeps the page, although it is no-store.
func TestPagesThatWereKeptAreLoadedAgain(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, chromium.Desktop)
	b.signIn(b.s.key)
	b.s.stored(account, "a", "patient-17", b.s.clock.Now(), nil)
	b.open("/console/sessions/a")
	if got := b.Text("main"); !strings.Contains(got, "patient-17") {
		t.Fatalf("the page says %q, want the result%s", got, b.Shot("result"))
	}
	b.open("/console/people")
	if err := b.s.keys.Revoke(b.s.key); err != nil {
		t.Fatal(err)
	}
	b.Do("back", chromedp.NavigateBack())
	b.WaitFor("the page to sign in without the person", `document.readyState == "complete" && document.querySelector("input[name=key]") != null && !document.body.textContent.includes("patient-17")`)
}
