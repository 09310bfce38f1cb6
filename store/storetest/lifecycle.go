package storetest

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/store"
)

var lifecycleCases = []testCase{
	{"Ping of a writable store returns nil", func(t *testing.T, st *subject) {
		wantErr(t, "Ping", st.Ping(t.Context()), nil)
		create(t, st, session("a", "s", "u"))
		wantErr(t, "Ping", st.Ping(t.Context()), nil)
	}},
	{"each call returns the error of a context that is done", func(t *testing.T, st *subject) {
		create(t, st, queued("a", "s", at(1)))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for name, err := range everyCall(ctx, t, st) {
			wantErr(t, name, err, context.Canceled)
		}
		wantSame(t, "Get", get(t, st, "a", "s"), queued("a", "s", at(1)))
	}},
	{"each call of a closed store returns ErrClosed", func(t *testing.T, st *subject) {
		create(t, st, queued("a", "s", at(1)))
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		for name, err := range everyCall(t.Context(), t, st) {
			wantErr(t, name, err, store.ErrClosed)
		}
		wantErr(t, "Close", st.Close(), store.ErrClosed)
	}},
	{"Close waits for an update", func(t *testing.T, st *subject) {
		create(t, st, session("a", "s", "u"))
		waits(t, st, func(began chan<- struct{}, resume <-chan struct{}) error {
			_, err := st.Update(t.Context(), "a", "s", func(*store.Session, time.Time) error {
				close(began)
				<-resume
				return nil
			})
			return err
		})
	}},
	{"Close waits for audio that is being stored", func(t *testing.T, st *subject) {
		waits(t, st, func(began chan<- struct{}, resume <-chan struct{}) error {
			_, err := st.Audio().Put(t.Context(), readerFunc(func([]byte) (int, error) {
				close(began)
				<-resume
				return 0, io.EOF
			}))
			return err
		})
	}},
	{"a store may be closed during calls", func(t *testing.T, st *subject) {
		create(t, st, session("a", "s", "u"))
		race(racers, func(i int) {
			if i == racers/2 {
				wantErr(t, "Close", st.Close(), nil)
				return
			}
			for range 10 {
				_, err := st.Update(t.Context(), "a", "s", func(s *store.Session, _ time.Time) error { s.Attempts++; return nil })
				if err != nil {
					wantErr(t, "Update", err, store.ErrClosed)
					return
				}
			}
		})
	}},
}

// everyCall makes every call except Close, and returns the error of each. None of them
// may have an effect.
func everyCall(ctx context.Context, t *testing.T, st *subject) map[string]error {
	errs := map[string]error{
		"Create":       st.Create(ctx, session("a", "new", "u")),
		"Delete":       st.Delete(ctx, "a", "s"),
		"Audio.Remove": st.Audio().Remove(ctx, "x"),
		"Audio.Sweep":  st.Audio().Sweep(ctx, 0, nil),
		"Ping":         st.Ping(ctx),
	}
	_, errs["Get"] = st.Get(ctx, "a", "s")
	_, errs["Update"] = st.Update(ctx, "a", "s", never(t))
	_, errs["Next"] = st.Next(ctx, never(t))
	_, errs["NextNotice"] = st.NextNotice(ctx, nil, never(t))
	_, errs["Expire"] = st.Expire(ctx, 0, 9)
	_, errs["Head"] = st.Head(ctx, "a", "s")
	_, _, errs["Document"] = st.Document(ctx, "d")
	_, errs["PutDocument"] = st.PutDocument(ctx, "d", 0, nil)
	_, errs["Due"] = st.Due(ctx)
	_, errs["List"] = st.List(ctx, "a", "user", nil, 9)
	_, errs["Forget"] = st.Forget(ctx, "a", "user")
	_, errs["Audio.Put"] = st.Audio().Put(ctx, strings.NewReader("audio"))
	_, errs["Audio.Open"] = st.Audio().Open(ctx, "x")
	return errs
}

// waits fails the test unless Close returns after a call that began before it, and the
// call succeeds.
func waits(t *testing.T, st *subject, call func(began chan<- struct{}, resume <-chan struct{}) error) {
	t.Helper()
	began, resume := make(chan struct{}), make(chan struct{})
	called, closed := make(chan error, 1), make(chan error, 1)
	go func() { called <- call(began, resume) }()
	<-began
	go func() { closed <- st.Close() }()
	select {
	case err := <-closed:
		t.Errorf("Close returned %v during a call", err)
		closed <- err
	case <-time.After(30 * time.Millisecond): // chosen: a Close that does not wait takes less
	}
	close(resume)
	wantErr(t, "the call", <-called, nil)
	wantErr(t, "Close", <-closed, nil)
}
