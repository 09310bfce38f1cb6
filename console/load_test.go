package console_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/console"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
	"github.com/voicescreen/voicescreen/store/memory"
)

// counting is a store that counts the sessions that it returns, but for those of Scan,
// which the console calls in the background.
type counting struct {
	store.Store
	read atomic.Int64
}

func (c *counting) Get(ctx context.Context, account, id string) (*store.Session, error) {
	c.read.Add(1)
	return c.Store.Get(ctx, account, id)
}

func (c *counting) List(ctx context.Context, account, user string, after *store.Cursor, limit int) ([]*store.Session, error) {
	list, err := c.Store.List(ctx, account, user, after, limit)
	c.read.Add(int64(len(list)))
	return list, err
}

// fill stores sessions: all of one person or each of another one, with everything that a
// page shows.
func fill(tb testing.TB, st store.Store, n int, user func(i int) string) {
	tb.Helper()
	begin := time.Now().Add(-time.Duration(n) * time.Minute).Truncate(time.Second).UTC()
	var work sync.WaitGroup
	next := atomic.Int64{}
	for range 64 { // a store on a disk commits those that come together at once
		work.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				at := begin.Add(time.Duration(i) * time.Minute)
				x := &store.Session{Account: account, ID: fmt.Sprintf("session-%06d", i), UserID: user(i), Status: screen.StatusSuccess,
					Product: screen.DepressionAnxiety, CreatedAt: at, UpdatedAt: at, SubmittedAt: at, Duration: 70, Analysed: 70, Features: map[string]float64{},
					Metadata: screen.Metadata{Gender: screen.Gender(1 + i%2), Age: 20 + i%60}}
				for f := range 95 { // as many as voice/1 has
					x.Features[fmt.Sprintf("quality.measure_%02d", f)] = float64(f)
				}
				for _, c := range []screen.Category{screen.Depression, screen.Anxiety} {
					s := depression()
					s.Category, s.Model, s.Version, s.Severity, s.Coverage = c, "m", "1", c.Severities()[0], 1
					s.Probability = float64(i%100) / 100
					for len(s.Contributions) < 40 {
						s.Contributions = append(s.Contributions, s.Contributions[0])
					}
					x.Scores = append(x.Scores, s)
				}
				if i%10 == 0 {
					x.Labels = screen.Labels{PHQ9: phq9Of(i % 28), UpdatedAt: at}
				}
				if err := st.Create(context.Background(), x); err != nil {
					tb.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
}

// pagesOf are the pages that read sessions, of the newest of n.
func pagesOf(n int) []string {
	at := fmt.Sprintf("/console/sessions/session-%06d", n-1)
	return []string{"/console/", "/console/new", at, at + "/history", at + "/phq-9", at + "/erase", at + "/thanks", "/console/people",
		"/console/agreement", "/console/operations", "/console/operations/keys"}
}

// TestPagesReadFewSessions: the work of a page does not grow with the sessions.
func TestPagesReadFewSessions(t *testing.T) {
	const n = 500
	st := &counting{Store: memory.New(nil)}
	defer st.Close()
	fill(t, st, n, func(int) string { return "patient-17" })
	h, in := open(t, st)
	for _, at := range pagesOf(n) {
		st.read.Store(0)
		if got := ask(h, in, at); got.Code != http.StatusOK {
			t.Errorf("%s: got %d, want 200", at, got.Code)
		}
		if got := st.read.Load(); got > 150 { // a page of the history, in batches of 64, and the session itself
			t.Errorf("%s: read %d of %d sessions, want at most 150", at, got, n)
		}
	}
	st.read.Store(0)
	got := send(h, in, "POST", "/console/operations/erase", url.Values{"user": {"patient-17"}})
	if got.Code != http.StatusOK || !strings.Contains(got.Body.String(), "more than 50 with a recording") {
		t.Errorf("the erasure of a person: got %d, want more than 50 recordings: %s", got.Code, text(got.Body.String()))
	}
	if got := st.read.Load(); got > 150 {
		t.Errorf("the erasure of a person: read %d of %d sessions, want at most 150", got, n)
	}
}

// open returns a console over a store, and the cookie of a sign-in.
func open(tb testing.TB, st store.Store) (http.Handler, *http.Cookie) {
	tb.Helper()
	e, err := voicescreen.New(st, &voicescreen.Options{Workers: -1})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { e.Close(context.Background()) })
	keys := httpadapter.NewKeys()
	key, err := keys.Create(account, append(httpadapter.DefaultScopes(), httpadapter.ScopeAdmin)...)
	if err != nil {
		tb.Fatal(err)
	}
	h, err := console.New(e, keys, nil)
	if err != nil {
		tb.Fatal(err)
	}
	r := httptest.NewRequest("POST", "http://localhost/console/sign-in", strings.NewReader(url.Values{"key": {key}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	in := w.Result().Cookies()
	if len(in) != 1 {
		tb.Fatalf("sign-in: got %d and %d cookies", w.Code, len(in))
	}
	return h, in[0]
}

func ask(h http.Handler, in *http.Cookie, path string) *httptest.ResponseRecorder {
	return send(h, in, "GET", path, nil)
}

func send(h http.Handler, in *http.Cookie, method, path string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.AddCookie(in)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestFirstLoadIsSmall: a page with its styles and scripts has at most 150 kB.
func TestFirstLoadIsSmall(t *testing.T) {
	st := memory.New(nil)
	defer st.Close()
	fill(t, st, 200, func(int) string { return "patient-17" })
	h, in := open(t, st)
	static := 0
	files, err := filepath.Glob("static/*")
	if err != nil || len(files) < 2 {
		t.Fatalf("got files %v (%v)", files, err)
	}
	for _, f := range files { // all, whichever page needs them
		static += ask(h, in, "/console/"+filepath.ToSlash(f)).Body.Len()
	}
	for _, at := range pagesOf(200) {
		n := ask(h, in, at).Body.Len() + static
		if n > 150_000 {
			t.Errorf("%s: got %d bytes with %d of styles and scripts, want at most 150,000", at, n, static)
		}
	}
}

// BenchmarkPage is the time of the server for each page of an account with 10,000
// sessions, of one person each, or of one person together, in a file.
func BenchmarkPage(b *testing.B) {
	const n = 10_000
	for _, people := range []int{1, n} {
		b.Run(fmt.Sprintf("people=%d", people), func(b *testing.B) {
			st, err := bolt.Open(filepath.Join(b.TempDir(), "bench.db"), nil)
			if err != nil {
				b.Fatal(err)
			}
			defer st.Close()
			fill(b, st, n, func(i int) string { return fmt.Sprint("person-", i%people) })
			h, in := open(b, st)
			for _, at := range pagesOf(n) {
				name := strings.TrimPrefix(strings.Replace(at, fmt.Sprintf("session-%06d", n-1), "ID", 1), "/console/")
				b.Run(strings.ReplaceAll(name, "/", "."), func(b *testing.B) {
					slowest := time.Duration(0)
					for b.Loop() {
						begin := time.Now()
						if w := ask(h, in, at); w.Code != http.StatusOK {
							b.Fatal(w.Code)
						}
						slowest = max(slowest, time.Since(begin))
					}
					b.ReportMetric(float64(slowest.Milliseconds()), "slowest-ms")
				})
			}
		})
	}
}
