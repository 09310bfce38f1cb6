package console_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/console"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// scanning is a store whose Scan a test replaces.
type scanning struct {
	store.Store
	engine *voicescreen.Engine // over it
	scans  atomic.Int64
	scan   atomic.Pointer[func(ctx context.Context) error] // before that of the store; nil for none
}

func (s *scanning) Scan(ctx context.Context, after string, limit int) ([]*store.Session, error) {
	s.scans.Add(1)
	if f := s.scan.Load(); f != nil {
		if err := (*f)(ctx); err != nil {
			return nil, err
		}
	}
	return s.Store.Scan(ctx, after, limit)
}

// scanned puts a console into s over a store whose Scan calls f first; nil for none.
func (s *service) scanned(f func(ctx context.Context) error, change func(*console.Options)) *scanning {
	s.t.Helper()
	st := &scanning{Store: s.store}
	if f != nil {
		st.scan.Store(&f)
	}
	st.engine = newShipped(s.t, st)
	opts := &console.Options{Now: s.clock.Now, Logger: slog.New(slog.NewTextHandler(s.log, nil))}
	if change != nil {
		change(opts)
	}
	h, err := console.New(st.engine, s.keys, opts)
	if err != nil {
		s.t.Fatal(err)
	}
	s.server.Config.Handler = h
	return st
}

// TestClassOfAnotherCategory: a depression score with a class of anxiety, which another
// program stored, has no place in the table of classes.
func TestClassOfAnotherCategory(t *testing.T) {
	s := newService(t, nil)
	s.labelled(0, 0.7, screen.Positive, 12, func(x *store.Session) { x.Scores[0].Severity = screen.Severe })
	s.labelled(1, 0.7, screen.Positive, 12, func(x *store.Session) { x.Scores[0].Severity = screen.NoOrMinimal })
	s.labelled(2, 0.7, screen.Positive, 12, func(x *store.Session) { x.Scores[0].Severity = screen.MildToModerate })
	a := s.signedIn("").until("/console/agreement", "from 3 sessions")
	a.want(t, "the agreement", http.StatusOK, "3 recordings of 3 people have a label")
	if got, want := strings.Join(cells(a.body, "Classes of the score by class of the questionnaire"), " "), "0 0 0 0 1 0 0 0 0"; got != want {
		t.Errorf("got the table %q, want %q", got, want)
	}
}

// TestFailedSummary: a pass that fails is logged, and not repeated for a minute.
func TestFailedSummary(t *testing.T) {
	for name, f := range map[string]func(context.Context) error{
		"error": func(context.Context) error { return errors.New("the disk does not answer") },
		"panic": func(context.Context) error { panic("patient-17") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, nil)
			st := s.scanned(f, nil)
			c := s.signedIn("")
			fails := func() {
				t.Helper()
				for deadline := time.Now().Add(time.Minute); c.get("/console/agreement").status != http.StatusInternalServerError; time.Sleep(time.Millisecond) {
					if time.Now().After(deadline) {
						t.Fatal("the page does not fail")
					}
				}
			}
			fails()
			fails()
			if n := st.scans.Load(); n != 1 {
				t.Errorf("got %d passes within a minute, want 1", n)
			}
			if log := s.log.String(); strings.Count(log, `level=ERROR msg="summarize the sessions of an account"`) != 1 || strings.Contains(log, "patient-17") {
				t.Errorf("got the log %s, want the failed pass once, and no patient", log)
			}
			st.scan.Store(nil)
			s.clock.Add(2 * time.Minute)
			c.until("/console/agreement", "no session yet")
		})
	}
}

// TestOperatorSeesAStoreThatFails: the state of the service is shown also where the
// sessions cannot be read.
func TestOperatorSeesAStoreThatFails(t *testing.T) {
	s := newService(t, nil)
	s.scanned(func(context.Context) error { return errors.New("the disk does not answer") }, func(o *console.Options) { o.Operations.Accounts = []string{account} })
	a := s.signedIn("").until("/console/operations", "An internal error occurred")
	a.want(t, "operations", http.StatusOK, "Takes recordings", "Failed calls of the store since the start</dt><dd><span")
}

// TestTrialPanics: a trial that panics has failed, and the process goes on.
func TestTrialPanics(t *testing.T) {
	s := newService(t, nil)
	st := s.scanned(nil, nil)
	c := s.signedIn("")
	c.until("/console/agreement", "no session yet")
	panics := func(context.Context) error { panic("patient-17") }
	st.scan.Store(&panics)
	c.post("/console/agreement/trial").want(t, "a trial", http.StatusOK)
	c.until("/console/agreement", textsOf(t, "words/en.json")["error.internal"])
	if log := s.log.String(); !strings.Contains(log, `level=ERROR msg="trial calibration"`) || strings.Contains(log, "patient-17") {
		t.Errorf("got the log %s, want the failed trial, and no patient", log)
	}
}

// TestContextEndsTheBackground: Close waits neither for a pass nor for a trial whose
// context has ended, and that is no error in the log.
func TestContextEndsTheBackground(t *testing.T) {
	for name, begin := range map[string]func(*client){
		"summary": func(c *client) { c.get("/console/agreement") },
		"trial":   func(c *client) { c.post("/console/agreement/trial") },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := newService(t, nil)
			st := s.scanned(nil, func(o *console.Options) { o.Context = ctx })
			c := s.signedIn("")
			began := make(chan struct{}, 10)
			waits := func(ctx context.Context) error {
				began <- struct{}{}
				<-ctx.Done()
				return ctx.Err()
			}
			st.scan.Store(&waits)
			begin(c)
			<-began
			closed := make(chan error, 1)
			go func() { closed <- st.engine.Close(context.Background()) }()
			select {
			case err := <-closed:
				t.Fatalf("Close returned %v during the scan", err)
			case <-time.After(20 * time.Millisecond):
			}
			cancel()
			select {
			case err := <-closed:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(time.Minute):
				t.Fatal("Close waits a minute after the context ended")
			}
			if log := s.log.String(); strings.Contains(log, "level=ERROR") {
				t.Errorf("got the log %s, want no error", log)
			}
		})
	}
}

// TestPageDuringTheShutdown: a page that would need a new pass is unavailable, which is
// no error of the service.
func TestPageDuringTheShutdown(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := newService(t, nil)
	s.scanned(func(ctx context.Context) error { return ctx.Err() }, func(o *console.Options) { o.Context = ctx })
	c := s.signedIn("")
	a := c.get("/console/agreement")
	for deadline := time.Now().Add(time.Minute); a.status == http.StatusOK && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		a = c.get("/console/agreement")
	}
	a.want(t, "the agreement", http.StatusServiceUnavailable)
	if log := s.log.String(); strings.Contains(log, "level=ERROR") {
		t.Errorf("got the log %s, want no error", log)
	}
}
