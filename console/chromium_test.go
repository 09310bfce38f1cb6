package console_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/voicescreen/voicescreen/internal/proof/chromium"
	"github.com/voicescreen/voicescreen/models"
)

// spokenFile is what the microphone of the tests hears, again and again.
const spokenFile = "../testdata/female_en.wav"

// A browser is one window of Chromium on a service.
type browser struct {
	*chromium.Window
	t   *testing.T
	s   *service
	tap *tap
}

// A tap stands between a browser and a service: it keeps the recordings that are sent,
// and can let the connection fail while one is sent.
type tap struct {
	inside http.Handler

	mu         sync.Mutex
	fault      func(r *http.Request) // of requests with a recording, while it is set; Chromium itself tries once more
	recordings [][]byte
}

func (p *tap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/recording") {
		p.inside.ServeHTTP(w, r)
		return
	}
	p.mu.Lock()
	fault := p.fault
	p.mu.Unlock()
	if fault != nil {
		fault(r)
		panic(http.ErrAbortHandler)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	_, boundary, _ := strings.Cut(r.Header.Get("Content-Type"), "boundary=")
	form := multipart.NewReader(bytes.NewReader(body), boundary)
	for part, err := form.NextPart(); err == nil; part, err = form.NextPart() {
		if part.FormName() == "file" {
			recording, _ := io.ReadAll(part)
			p.mu.Lock()
			p.recordings = append(p.recordings, recording)
			p.mu.Unlock()
		}
	}
	p.inside.ServeHTTP(w, r)
}

func (p *tap) setFault(fault func(r *http.Request)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = fault
}

// cut takes the beginning of a recording; then the connection ends.
func cut(r *http.Request) { io.CopyN(io.Discard, r.Body, 64<<10) }

// silence takes a recording and says nothing until the browser gives up.
func silence(r *http.Request) {
	io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// newBrowser starts a service, and Chromium with a microphone that hears spokenFile.
func newBrowser(t *testing.T, size [2]int64, scorers ...models.Scorer) *browser {
	t.Helper()
	heard, err := filepath.Abs(spokenFile)
	if err != nil {
		t.Fatal(err)
	}
	s := newService(t, nil, scorers...)
	b := &browser{t: t, s: s, tap: &tap{inside: s.handler}}
	server := httptest.NewServer(b.tap)
	t.Cleanup(server.Close)
	s.server = server
	b.Window = chromium.Open(t, size, chromedp.Flag("use-fake-device-for-media-stream", true), chromedp.Flag("use-fake-ui-for-media-stream", true),
		chromedp.Flag("use-file-for-fake-audio-capture", heard), chromedp.Flag("autoplay-policy", "no-user-gesture-required"))
	return b
}

// open goes to a path.
func (b *browser) open(path string) {
	b.t.Helper()
	b.Go(b.s.server.URL + path)
}

// signIn signs in with a key.
func (b *browser) signIn(key string) {
	b.t.Helper()
	b.open("/console/")
	b.Do("sign in", chromedp.SetValue(chromedp.CSS("input[name=key]"), key), chromedp.Submit(chromedp.CSS("input[name=key]")))
	b.WaitFor("the first page", `location.pathname == "/console/" && document.readyState == "complete"`)
}

// consent fills in the consent and returns the identifier of the session.
func (b *browser) consent(user string) string {
	b.t.Helper()
	b.open("/console/new")
	b.Check("consent")
	b.Do("consent", chromedp.SetValue(chromedp.CSS("input[name=user]"), user), chromedp.Click(chromedp.CSS("input[name=consent]")),
		chromedp.Click(chromedp.CSS("main form button")), chromedp.WaitVisible(chromedp.CSS("#check")))
	m := sessionInPath.FindStringSubmatch(b.Path())
	if m == nil {
		b.t.Fatalf("after the consent the browser is at %s, want the page of the recording%s", b.Path(), b.Shot("consent"))
	}
	return m[1]
}
