package voicescreen_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// errAway is what a store returns whose server does not answer.
var errAway = fmt.Errorf("store/postgres: get: %w: connection refused", store.ErrUnavailable)

// awayAudio is a store whose recordings cannot be opened for some time.
type awayAudio struct {
	store.Store
	left atomic.Int64 // how many calls of Open fail
	err  error
}

func (a *awayAudio) Audio() store.Audio { return &awayOpen{a.Store.Audio(), a} }

type awayOpen struct {
	store.Audio
	of *awayAudio
}

func (a *awayOpen) Open(ctx context.Context, ref string) (io.ReadCloser, error) {
	if a.of.left.Add(-1) >= 0 {
		return nil, a.of.err
	}
	return a.Audio.Open(ctx, ref)
}

// A recording is analysed when its server answers again, or its directory is there again,
// however often that was asked meanwhile.
func TestAttemptsDoNotCountWhileTheAudioIsUnavailable(t *testing.T) {
	for name, err := range map[string]error{
		"server": errAway, "files": &fs.PathError{Op: "open", Path: "x", Err: syscall.EMFILE}, "refused": errors.New("AccessDenied"),
	} {
		t.Run(name, func(t *testing.T) {
			st := &awayAudio{Store: newMemory(t), err: err}
			opts := testOptions()
			opts.Workers = 1
			opts.Queue.RetryDelay = time.Millisecond
			st.left.Store(10)
			e := newEngine(t, st, opts)
			id := initiate(t, e, "u")
			submit(t, e, id, speech())
			if r := wait(t, e, id); r.Status != screen.StatusSuccess {
				t.Errorf("got %v %+v, want success", r.Status, r.Failure)
			}
			if s, err := st.Get(t.Context(), "", id); err != nil || s.Attempts != 1 {
				t.Errorf("got %+v and error %v, want one attempt", s, err)
			}
		})
	}
	for _, err := range []error{store.ErrNotFound, store.ErrDamaged} { // the recording is lost
		st := &awayAudio{Store: newMemory(t), err: fmt.Errorf("open: %w", err)}
		opts := testOptions()
		opts.Workers = 1
		st.left.Store(10)
		e := newEngine(t, st, opts)
		id := initiate(t, e, "u")
		submit(t, e, id, speech())
		if r := wait(t, e, id); r.Status != screen.StatusFailed || r.Failure.Code != screen.CodeInternal {
			t.Errorf("%v: got %v %+v, want failure", err, r.Status, r.Failure)
		}
	}
}

// The error of a store whose server does not answer is ErrUnavailable.
func TestUnavailableStore(t *testing.T) {
	st := &faultyStore{Store: newMemory(t)}
	e := newEngine(t, st, testOptions())
	id := initiate(t, e, "u")
	st.get = func(string, string) (*store.Session, error) { return nil, errAway }
	if _, err := e.Result(t.Context(), id); !errors.Is(err, voicescreen.ErrUnavailable) {
		t.Errorf("Result: got error %v, want %v", err, voicescreen.ErrUnavailable)
	}
	if _, err := e.Submit(t.Context(), id, bytes.NewReader(speech()), nil); !errors.Is(err, voicescreen.ErrUnavailable) {
		t.Errorf("Submit: got error %v, want %v", err, voicescreen.ErrUnavailable)
	}
	st.get = nil
	if _, err := e.Submit(t.Context(), id, bytes.NewReader(speech()), nil); err != nil {
		t.Errorf("Submit, when the server answers again: %v", err)
	}
}

// An outcome is stored when the store answers again, without another analysis, also if the
// store made the change and its answer was lost.
func TestAnOutcomeIsStoredWhenTheStoreIsAvailableAgain(t *testing.T) {
	for name, late := range map[string]bool{"not made": false, "made, and the answer lost": true} {
		t.Run(name, func(t *testing.T) {
			st := &faultyStore{Store: newMemory(t)}
			fake := newFake(nil)
			opts := testOptions()
			opts.Workers, opts.Scoring.Models = 1, []models.Scorer{fake}
			var reported atomic.Int64
			opts.Results.OnResult = func(context.Context, string, *voicescreen.Result) { reported.Add(1) }
			var lost atomic.Int64
			st.update = func(account, id string, change store.Change) (*store.Session, error) {
				final := false
				update := func(s *store.Session, now time.Time) error {
					err := change(s, now)
					if final = err == nil && s.Status.Final(); final && !late && lost.Load() == 0 {
						return errAway
					}
					return err
				}
				s, err := st.Store.Update(context.Background(), account, id, update)
				if final && lost.Add(1) == 1 {
					return nil, errAway
				}
				return s, err
			}
			e := newEngine(t, st, opts)
			id := initiate(t, e, "u")
			submit(t, e, id, speech())
			if r := wait(t, e, id); r.Status != screen.StatusSuccess || len(r.Scores) == 0 {
				t.Errorf("got %v %+v, want success", r.Status, r.Failure)
			}
			eventually(t, "the result is reported", func() bool { return reported.Load() == 1 })
			if fake.calls.Load() != 1 {
				t.Errorf("got %d analyses, want 1", fake.calls.Load())
			}
		})
	}
}

// A recording outlives a full store, however often its outcome could not be stored: where a
// lease fits and scores and measures do not, and where nothing fits any more.
func TestAttemptsDoNotCountWhileTheStoreIsFull(t *testing.T) {
	full := fmt.Errorf("store/bolt: update: %w", store.ErrFull)
	for name, all := range map[string]bool{"of outcomes": false, "of everything": true} {
		t.Run(name, func(t *testing.T) {
			st := &faultyStore{Store: newMemory(t)}
			opts := testOptions()
			opts.Workers, opts.Queue.Lease = 1, 50*time.Millisecond
			var noRoom atomic.Bool
			var analyses atomic.Int64
			fake := newFake(nil)
			opts.Scoring.Models = []models.Scorer{fake}
			st.update = func(account, id string, change store.Change) (*store.Session, error) {
				if all && noRoom.Load() {
					return nil, full
				}
				return st.Store.Update(context.Background(), account, id, func(s *store.Session, now time.Time) error {
					err := change(s, now)
					if err == nil && s.Status.Final() && noRoom.Load() {
						return full
					}
					return err
				})
			}
			var failing atomic.Int64 // when everything began to
			st.next = func(change store.Change) (*store.Session, error) {
				// Each lease fits, and what comes for three times its length does not.
				if all && time.Since(time.Unix(0, failing.Load())) < 3*opts.Queue.Lease {
					return nil, full
				}
				s, err := st.Store.Next(context.Background(), change)
				if err == nil {
					noRoom.Store(analyses.Add(1) <= 5)
					failing.Store(time.Now().UnixNano())
				}
				return s, err
			}
			e := newEngine(t, st, opts)
			id := initiate(t, e, "u")
			submit(t, e, id, speech())
			if r := wait(t, e, id); r.Status != screen.StatusSuccess {
				t.Errorf("got %v %+v, want success", r.Status, r.Failure)
			}
			if s, err := st.Get(t.Context(), "", id); err != nil || s.Attempts != 1 || analyses.Load() < 6 {
				t.Errorf("got %+v and error %v after %d analyses, want one attempt of six", s, err, analyses.Load())
			}
		})
	}
}

// awayDocuments is a store that keeps no documents for now.
type awayDocuments struct {
	store.Store
	err error
}

func (a *awayDocuments) PutDocument(context.Context, string, uint64, []byte) (uint64, error) {
	return 0, fmt.Errorf("store/postgres: put a document: %w", a.err)
}

// The errors of documents are those of the package, as of sessions.
func TestErrorsOfDocuments(t *testing.T) {
	for from, want := range map[error]error{store.ErrClosed: voicescreen.ErrClosed, store.ErrFull: voicescreen.ErrFull, store.ErrUnavailable: voicescreen.ErrUnavailable} {
		e := newEngine(t, &awayDocuments{newMemory(t), from}, testOptions())
		if err := e.SetThresholds(always("clinic")); !errors.Is(err, want) {
			t.Errorf("%v: got error %v, want %v", from, err, want)
		}
	}
}
