package httpadapter_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/memory"
)

// errDisk is the error of a failing call of the store. No answer may hold it.
var errDisk = errors.New("disk on fire")

// faultyStore is a store with a method that fails, at one call or from one call on,
// until it is repaired.
type faultyStore struct {
	store.Store
	method string
	nth    int   // call of the method, 0 the first
	stays  bool  // whether the calls after it fail too
	late   bool  // whether the call takes effect, and then fails
	silent bool  // whether the failing call returns no error
	err    error // of the failing call; nil is errDisk

	mu       sync.Mutex // protects what follows
	calls    int
	repaired bool
	audio    []string // references that were handed out
}

// fails counts a call and returns whether it fails.
func (f *faultyStore) fails(method string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if method != f.method {
		return false
	}
	n := f.calls
	f.calls++
	return !f.repaired && (n == f.nth || f.stays && n > f.nth)
}

// reached returns whether the call that is to fail was made.
func (f *faultyStore) reached() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls > f.nth
}

func (f *faultyStore) repair() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.repaired = true
}

// tryCall makes a call of a method, unless or although it fails.
func tryCall[T any](f *faultyStore, method string, do func() (T, error)) (T, error) {
	var zero T
	fails := f.fails(method)
	if fails && f.silent {
		return zero, nil
	}
	if fails && !f.late {
		return zero, cmp.Or(f.err, errDisk)
	}
	v, err := do()
	if fails && err == nil {
		return zero, cmp.Or(f.err, errDisk)
	}
	return v, err
}

func (f *faultyStore) Create(ctx context.Context, s *store.Session) error {
	_, err := tryCall(f, "Create", func() (any, error) { return nil, f.Store.Create(ctx, s) })
	return err
}

func (f *faultyStore) Get(ctx context.Context, account, id string) (*store.Session, error) {
	return tryCall(f, "Get", func() (*store.Session, error) { return f.Store.Get(ctx, account, id) })
}

func (f *faultyStore) Head(ctx context.Context, account, id string) (*store.Session, error) {
	return tryCall(f, "Get", func() (*store.Session, error) { return f.Store.Head(ctx, account, id) })
}

func (f *faultyStore) Update(ctx context.Context, account, id string, change store.Change) (*store.Session, error) {
	return tryCall(f, "Update", func() (*store.Session, error) { return f.Store.Update(ctx, account, id, change) })
}

func (f *faultyStore) Next(ctx context.Context, change store.Change) (*store.Session, error) {
	return tryCall(f, "Next", func() (*store.Session, error) { return f.Store.Next(ctx, change) })
}

func (f *faultyStore) Due(ctx context.Context) (int, error) {
	return tryCall(f, "Due", func() (int, error) { return f.Store.Due(ctx) })
}

func (f *faultyStore) List(ctx context.Context, account, user string, after *store.Cursor, limit int) ([]*store.Session, error) {
	return tryCall(f, "List", func() ([]*store.Session, error) { return f.Store.List(ctx, account, user, after, limit) })
}

func (f *faultyStore) Delete(ctx context.Context, account, id string) error {
	_, err := tryCall(f, "Delete", func() (any, error) { return nil, f.Store.Delete(ctx, account, id) })
	return err
}

func (f *faultyStore) Forget(ctx context.Context, account, user string) (int, error) {
	return tryCall(f, "Forget", func() (int, error) { return f.Store.Forget(ctx, account, user) })
}

func (f *faultyStore) Audio() store.Audio { return faultyAudio{f.Store.Audio(), f} }

// faultyAudio is the audio of a faultyStore.
type faultyAudio struct {
	store.Audio
	f *faultyStore
}

func (a faultyAudio) Put(ctx context.Context, r io.Reader) (string, error) {
	f := a.f
	return tryCall(f, "PutAudio", func() (string, error) {
		ref, err := a.Audio.Put(ctx, r)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.audio = append(f.audio, ref)
		return ref, err
	})
}

func (a faultyAudio) Open(ctx context.Context, ref string) (io.ReadCloser, error) {
	return tryCall(a.f, "OpenAudio", func() (io.ReadCloser, error) { return a.Audio.Open(ctx, ref) })
}

func (f *faultyStore) Ping(ctx context.Context) error {
	_, err := tryCall(f, "Ping", func() (any, error) { return nil, f.Store.Ping(ctx) })
	return err
}

// patient is a caller who retries after an internal error, when the fault is
// repaired.
type patient struct {
	*service
	f      *faultyStore
	failed int // answers of 5xx
}

// newPatient starts a service with a worker on a store with a fault.
func newPatient(t testing.TB, f *faultyStore) *patient {
	t.Helper()
	f.Store = memory.New(nil)
	s := &service{t: t, keys: httpadapter.NewKeys(), log: &lockedBuffer{}, store: f.Store}
	e, err := voicescreen.New(f, &voicescreen.Options{
		Workers: 1, Scoring: voicescreen.ScoringOptions{Models: []models.Scorer{fixedScorer{}}}, Logger: slog.New(slog.NewTextHandler(s.log, nil)),
		Queue: voicescreen.QueueOptions{Poll: time.Millisecond, RetryDelay: time.Millisecond, Lease: 30 * time.Millisecond, Attempts: 100},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	s.engine, s.handler = e, httpadapter.New(e, s.keys, &httpadapter.Options{TempDir: t.TempDir(), Logger: slog.New(slog.NewTextHandler(s.log, nil))})
	s.key = s.newKey("clinic", httpadapter.ScopeInitiate, httpadapter.ScopeSubmit, httpadapter.ScopeRead, httpadapter.ScopeFeedback, httpadapter.ScopeAdmin)
	return &patient{service: s, f: f}
}

// insist makes a request, repairs the fault after an internal error and retries. It
// wants the status, or in the second attempt one of again.
func (p *patient) insist(r request, want int, again ...int) (status int, body map[string]any) {
	p.t.Helper()
	for failed := false; ; failed = true {
		w := p.do(r)
		if w.Code >= 500 && !failed {
			p.failed++
			p.f.repair()
			if strings.Contains(w.Body.String(), errDisk.Error()) {
				p.t.Errorf("%s %s: the answer %s says what failed", r.method, r.path, w.Body)
			}
			continue
		}
		if w.Code != want && !(failed && slices.Contains(again, w.Code)) {
			p.t.Fatalf("%s %s: got %d %s, want %d, or at a second attempt %v", r.method, r.path, w.Code, w.Body, want, again)
		}
		if w.Body.Len() > 0 && w.Body.Bytes()[0] == '{' {
			body = jsonObject(p.t, w.Body.Bytes())
		}
		return w.Code, body
	}
}

// result polls until the session has failed with audio_length_error.
func (p *patient) result(id string) map[string]any {
	p.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		w := p.do(request{method: "GET", path: "/predict/sessions/" + id})
		switch body := jsonObject(p.t, w.Body.Bytes()); {
		case w.Code == http.StatusExpectationFailed:
			if failure, _ := body["predict_error"].(map[string]any); failure["error"] != "audio_length_error" {
				p.t.Fatalf("got %v, want that it is too short", body)
			}
			delete(body, "updated_at") // of labels too
			delete(body, "actual_score")
			return body
		case w.Code >= 500:
			p.failed++
			p.f.repair()
		case w.Code != http.StatusOK:
			p.t.Fatalf("got %d %v", w.Code, body)
		}
		if p.f.stays && p.f.reached() { // the worker has the fault, and no caller sees it
			p.f.repair()
		}
	}
	p.t.Fatalf("session %s has no result: %s", id, p.log)
	return nil
}

// flow is a session from the consent to its erasure, and another one that is
// forgotten with its user.
func (p *patient) flow(recording []byte) {
	p.t.Helper()
	const urlencoded = "application/x-www-form-urlencoded"
	initiate := request{method: "POST", path: "/initiate", contentType: urlencoded, body: "user_id=u&is_initiated=true"}
	p.insist(request{method: "GET", path: "/readyz"}, http.StatusOK)
	var ids []string
	for range 2 {
		_, body := p.insist(initiate, http.StatusCreated)
		id, _ := body["session_id"].(string)
		p.insist(form("POST", "/predict/depression/binary", field{"session_id", id}, field{"file", string(recording)}), http.StatusAccepted, http.StatusConflict)
		ids = append(ids, id)
	}
	for _, id := range ids {
		first := p.result(id)
		label := request{method: "PATCH", path: "/v2/feedback/phq/2", contentType: "application/json", body: fmt.Sprintf(`{"session_id":%q,"actual_score":[1,2]}`, id)}
		p.insist(label, http.StatusOK)
		if again := p.result(id); fmt.Sprint(first) != fmt.Sprint(again) {
			p.t.Errorf("got result %v after %v", again, first)
		}
	}
	p.insist(request{method: "GET", path: "/v2/predict/users/u"}, http.StatusOK)
	p.insist(request{method: "DELETE", path: "/sessions/" + ids[0]}, http.StatusNoContent, http.StatusNotFound)
	p.insist(request{method: "GET", path: "/predict/sessions/" + ids[0]}, http.StatusNotFound)
	p.insist(request{method: "DELETE", path: "/users/u"}, http.StatusNoContent)
	p.insist(request{method: "GET", path: "/predict/sessions/" + ids[1]}, http.StatusNotFound)
	p.f.repair()
	if list, err := p.store.Scan(p.t.Context(), "", 9); len(list) > 0 || err != nil {
		p.t.Errorf("got %d sessions (%v) after all were erased", len(list), err)
	}
	for _, ref := range p.f.audio {
		f, err := p.store.Audio().Open(p.t.Context(), ref)
		if err == nil {
			err = f.Close()
		}
		if !errors.Is(err, store.ErrNotFound) && !p.f.late {
			p.t.Errorf("audio is left (%v) after all was erased", err)
		}
	}
}

// TestEachCallOfTheStoreFailsInTurn lets each call of each method of the store
// fail, once or until a caller has an error, before or after it took effect. The
// caller is answered 5xx, retries after the repair, and has the same answers as
// from a service without a fault. Faults of the worker are not visible.
func TestEachCallOfTheStoreFailsInTurn(t *testing.T) {
	recording := testWAV(t, 44100, 1, 0.2)
	// most is how many calls of a method fail in turn. Chosen: those of the
	// worker repeat themselves without end.
	const most = 4
	var mu sync.Mutex // protects seen
	seen := map[string]int{}
	t.Run("all", func(t *testing.T) {
		for _, method := range []string{"Create", "Get", "Update", "Next", "Due", "List", "Delete", "Forget", "PutAudio", "OpenAudio", "Ping"} {
			t.Run(method, func(t *testing.T) {
				t.Parallel()
				for mode := range 4 {
					for nth := range most {
						p := newPatient(t, &faultyStore{method: method, nth: nth, stays: mode&1 > 0, late: mode&2 > 0})
						p.flow(recording)
						if !p.f.reached() {
							break
						}
						mu.Lock()
						seen[method] += p.failed
						seen["all"]++
						mu.Unlock()
					}
				}
			})
		}
	})
	for _, method := range []string{"Create", "Get", "Update", "Due", "List", "Delete", "Forget", "PutAudio", "Ping"} {
		if seen[method] == 0 {
			t.Errorf("%s: no failure was answered 5xx", method)
		}
	}
	t.Logf("%d faults; answers of 5xx by method: %v", seen["all"], seen)
}

// witness is a test that may fail.
type witness struct {
	testing.TB
	faults []string
}

func (w *witness) Errorf(format string, args ...any) {
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

func (w *witness) Fatalf(format string, args ...any) {
	w.Errorf(format, args...)
	runtime.Goexit()
}

// TestASilentFaultIsSeen lets calls without an effect return no error, and checks
// that the test above would fail.
func TestASilentFaultIsSeen(t *testing.T) {
	recording := testWAV(t, 44100, 1, 0.2)
	for method, nth := range map[string]int{"Create": 1, "Update": 0, "Delete": 0, "Forget": 0} {
		t.Run(method, func(t *testing.T) {
			w := &witness{TB: t}
			p := newPatient(t, &faultyStore{method: method, nth: nth, silent: true})
			p.t = w
			done := make(chan struct{})
			go func() {
				defer close(done)
				p.flow(recording)
			}()
			<-done
			if len(w.faults) == 0 {
				t.Errorf("call %d of %s did nothing, and nobody missed it", nth, method)
			}
		})
	}
}
