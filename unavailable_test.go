package voicescreen_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// errAway is what a store returns whose server does not answer.
var errAway = fmt.Errorf("store/postgres: get: %w: connection refused", store.ErrUnavailable)

// awayAudio is a store whose recordings cannot be opened for some time.
type awayAudio struct {
	store.Store
	left atomic.Int64 // how many calls of Open fail
}

func (a *awayAudio) Audio() store.Audio { return &awayOpen{a.Store.Audio(), a} }

type awayOpen struct {
	store.Audio
	of *awayAudio
}

func (a *awayOpen) Open(ctx context.Context, ref string) (io.ReadCloser, error) {
	if a.of.left.Add(-1) >= 0 {
		return nil, errAway
	}
	return a.Audio.Open(ctx, ref)
}

// A recording is analysed when its server answers again, however often that was
// asked meanwhile.
func TestAttemptsDoNotCountWhileTheAudioIsUnavailable(t *testing.T) {
	st := &awayAudio{Store: newMemory(t)}
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
