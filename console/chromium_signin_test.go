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
	w.WaitFor("the answer", `document.querySelector("main [role=alert]") != null`)
	if got := w.Text("main"); !strings.Contains(got, "needs an address that begins with https://") {
		t.Errorf("the page says %q, want that signing in needs https://%s", got, w.Shot("without-tls"))
	}
}
