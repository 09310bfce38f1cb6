package console_test

import (
	"bytes"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/audit"
	"github.com/voicescreen/voicescreen/console"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/internal/proof/testflag"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
	"github.com/voicescreen/voicescreen/store/memory"
	"github.com/voicescreen/voicescreen/voicescreentest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if err := testflag.Parallel("3"); err != nil { // they wait for what is spoken
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// A service is a console over an engine in memory, with a key of all scopes.
type service struct {
	t       *testing.T
	engine  *voicescreen.Engine
	store   *memory.Store
	keys    *httpadapter.Keys
	handler http.Handler
	server  *httptest.Server
	clock   *voicescreentest.Clock
	log     *lines
	key     string // of the account "clinic"
	audited string // file of the audit log
}

const account = "clinic"

// lines is a log that several goroutines write.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// newService starts a console. Change may be nil.
func newService(t *testing.T, change func(*console.Options), scorers ...models.Scorer) *service {
	t.Helper()
	s := &service{t: t, clock: voicescreentest.NewClock(), log: &lines{}, keys: httpadapter.NewKeys(), audited: filepath.Join(t.TempDir(), "audit.log")}
	s.store = memory.New(&memory.Options{Now: s.clock.Now})
	if scorers == nil {
		scorers = []models.Scorer{voicescreentest.NewScorer()}
	}
	var err error
	s.engine, err = voicescreen.New(s.store, &voicescreen.Options{Store: bolt.Options{Now: s.clock.Now}, Scoring: voicescreen.ScoringOptions{Models: scorers}})
	if err != nil {
		t.Fatal(err)
	}
	trail, err := audit.Open(s.audited, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.engine.Close(t.Context()); s.store.Close(); trail.Close() })
	opts := &console.Options{Now: s.clock.Now, Logger: slog.New(slog.NewTextHandler(s.log, nil)), Audit: trail}
	if change != nil {
		change(opts)
	}
	if s.handler, err = console.New(s.engine, s.keys, opts); err != nil {
		t.Fatal(err)
	}
	s.key = s.newKey(account, httpadapter.ScopeInitiate, httpadapter.ScopeSubmit, httpadapter.ScopeRead, httpadapter.ScopeFeedback, httpadapter.ScopeAdmin)
	s.server = httptest.NewServer(s.handler)
	t.Cleanup(s.server.Close)
	return s
}

func (s *service) newKey(account string, scopes ...httpadapter.Scope) string {
	s.t.Helper()
	key, err := s.keys.Create(account, scopes...)
	if err != nil {
		s.t.Fatal(err)
	}
	return key
}

// A client is a browser without script.
type client struct {
	s    *service
	http *http.Client
}

// An answer is what a client got.
type answer struct {
	status int
	path   string // after redirects
	body   string
	header http.Header
}

func (s *service) newClient() *client {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &client{s: s, http: &http.Client{Jar: jar, Timeout: time.Minute}}
}

// signedIn returns a client that is signed in with a key; "" is that of all scopes.
func (s *service) signedIn(key string) *client {
	s.t.Helper()
	c := s.newClient()
	if key == "" {
		key = s.key
	}
	if a := c.post("/console/sign-in", "key", key); a.status != http.StatusOK || a.path != "/console/" {
		s.t.Fatalf("sign-in: got %d at %s, want 200 at /console/", a.status, a.path)
	}
	return c
}

func (c *client) do(r *http.Request) answer {
	c.s.t.Helper()
	res, err := c.http.Do(r)
	if err != nil {
		c.s.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		c.s.t.Fatal(err)
	}
	return answer{res.StatusCode, res.Request.URL.Path, string(body), res.Header}
}

func (c *client) request(method, path string, body io.Reader) *http.Request {
	c.s.t.Helper()
	r, err := http.NewRequestWithContext(c.s.t.Context(), method, c.s.server.URL+path, body)
	if err != nil {
		c.s.t.Fatal(err)
	}
	return r
}

func (c *client) get(path string) answer {
	c.s.t.Helper()
	return c.do(c.request("GET", path, nil))
}

// post sends a form of names and values.
func (c *client) post(path string, fields ...string) answer {
	c.s.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	r := c.request("POST", path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return c.do(r)
}

// upload sends a recording as the form does, with more fields before it.
func (c *client) upload(session string, recording []byte, fields ...string) answer {
	c.s.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i < len(fields); i += 2 {
		form.WriteField(fields[i], fields[i+1])
	}
	part, err := form.CreateFormFile("file", "recording.wav")
	if err != nil {
		c.s.t.Fatal(err)
	}
	part.Write(recording)
	form.Close()
	r := c.request("POST", "/console/sessions/"+session+"/recording", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	return c.do(r)
}

var sessionInPath = regexp.MustCompile(`^/console/sessions/([a-z2-7]{32})/`)

// consented opens a session by the form and returns its identifier.
func (c *client) consented(user string, fields ...string) string {
	c.s.t.Helper()
	a := c.post("/console/sessions", append([]string{"user", user, "consent", "yes"}, fields...)...)
	m := sessionInPath.FindStringSubmatch(a.path)
	if a.status != http.StatusOK || m == nil {
		c.s.t.Fatalf("consent: got %d at %s, want the page of the recording", a.status, a.path)
	}
	return m[1]
}

// recorded opens a session, sends a recording and waits for its result.
func (c *client) recorded(user string, fields ...string) string {
	c.s.t.Helper()
	id := c.consented(user, fields...)
	if a := c.upload(id, voicescreentest.Recording()); a.status != http.StatusOK {
		c.s.t.Fatalf("upload: got %d, want 200: %s", a.status, a.body)
	}
	if _, err := c.s.engine.Tenant(account).Wait(c.s.t.Context(), id); err != nil {
		c.s.t.Fatal(err)
	}
	return id
}

// want fails unless an answer has the status and every text.
func (a answer) want(t *testing.T, what string, status int, texts ...string) {
	t.Helper()
	if a.status != status {
		t.Errorf("%s: got status %d, want %d: %s", what, a.status, status, text(a.body))
	}
	for _, want := range texts {
		if !strings.Contains(a.body, want) {
			t.Errorf("%s: the page lacks %q: %s", what, want, text(a.body))
		}
	}
}

// until gets a page again and again until it holds a text.
func (c *client) until(path, text string) answer {
	c.s.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		a := c.get(path)
		if strings.Contains(a.body, text) || time.Now().After(deadline) {
			a.want(c.s.t, path, http.StatusOK, text)
			return a
		}
	}
}

var markup = regexp.MustCompile(`<[^>]*>|\s+`)

// text is a page without its elements, for messages.
func text(page string) string {
	return strings.Join(strings.Fields(markup.ReplaceAllString(page, " ")), " ")
}

// newShipped returns an engine with the shipped models that analyses nothing.
func newShipped(t *testing.T, st store.Store) *voicescreen.Engine {
	t.Helper()
	e, err := voicescreen.New(st, &voicescreen.Options{Workers: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close(t.Context()) })
	return e
}
