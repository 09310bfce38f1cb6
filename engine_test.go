package voicescreen_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"sync"
	"testing"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/memory"
)

func TestFlow(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		e := newEngine(t, st, testOptions())
		ctx := testContext(t)
		if err := e.Ready(ctx); err != nil {
			t.Errorf("Ready: %v", err)
		}
		id := initiate(t, e, "patient-17")
		if len(id) != 32 {
			t.Errorf("got session %q, want 32 characters, 160 bits in base 32", id)
		}
		r, err := e.Result(ctx, id)
		if err != nil || r.Status != screen.StatusInitiated || r.Product != 0 {
			t.Errorf("before the submission: got %+v, %v, want initiated", r, err)
		}
		submit(t, e, id, speech())
		r = wait(t, e, id)
		if r.Status != screen.StatusSuccess {
			t.Fatalf("got %v, %+v, want success", r.Status, r.Failure)
		}
		if len(r.Scores) != 2 || r.Scores[0].Category != screen.Depression || r.Scores[1].Category != screen.Anxiety {
			t.Errorf("got scores %+v, want depression and anxiety", r.Scores)
		}
		if got := r.Features["speech.duration_s"]; got < 0.5 || got > 1.5 {
			t.Errorf("got %v s of speech in 1.5 s, want most of it", got)
		}
		if err := e.Feedback(ctx, id, voicescreen.Feedback{GAD7: []int{0, 1, 2, 3, 0, 1, 2}}); err != nil {
			t.Error(err)
		}
		list, next, err := e.Results(ctx, "patient-17", voicescreen.Page{})
		if err != nil || len(list) != 1 || next != "" || list[0].SessionID != id || len(list[0].Labels.GAD7) != 7 {
			t.Errorf("got listing %v, %q, %v, want the one session with its label", list, next, err)
		}
		s, err := st.Get(ctx, "", id)
		if err != nil || s.Audio != "" || !s.Due.IsZero() || s.Owner != "" {
			t.Errorf("got record %+v, %v, want no audio, no lease and nothing due", s, err)
		}
		if _, err := e.Submit(ctx, id, bytes.NewReader(speech()), nil); !errors.Is(err, voicescreen.ErrConflict) {
			t.Errorf("second submission: got %v, want ErrConflict", err)
		}
	})
}

func TestAudioIsErasedWithTheResult(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		opts := testOptions()
		opts.Workers = -1
		e := newEngine(t, st, opts)
		id := initiate(t, e, "u")
		submit(t, e, id, tiny)
		s, err := st.Get(t.Context(), "", id)
		if err != nil {
			t.Fatal(err)
		}
		f, err := st.Audio().Open(t.Context(), s.Audio)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(f)
		f.Close()
		if err != nil || !bytes.Equal(b, tiny) {
			t.Errorf("got %d bytes of stored audio, %v, want the upload's %d", len(b), err, len(tiny))
		}
		worker := newEngine(t, st, testOptions())
		wait(t, worker, id)
		eventually(t, "the audio is removed", func() bool { // which is after the commit
			f, err := st.Audio().Open(t.Context(), s.Audio)
			if err == nil {
				f.Close()
			}
			return errors.Is(err, store.ErrNotFound)
		})
	})
}

func TestReadySaysWhatIsWrong(t *testing.T) {
	st := memory.New(nil)
	opts := testOptions()
	opts.Workers, opts.Queue.Limit = -1, 1
	e, err := voicescreen.New(st, opts)
	if err != nil {
		t.Fatal(err)
	}
	submit(t, e, initiate(t, e, "u"), tiny)
	if err := e.Ready(t.Context()); !errors.Is(err, voicescreen.ErrBusy) {
		t.Errorf("full queue: got %v, want ErrBusy", err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.Ready(t.Context()); err == nil {
		t.Error("closed store: got nil, want an error")
	}
	closeEngine(t, e)
	if err := e.Ready(t.Context()); !errors.Is(err, voicescreen.ErrClosed) {
		t.Errorf("closed engine: got %v, want ErrClosed", err)
	}
}

func TestCallsAfterCloseAreErrClosed(t *testing.T) {
	e, err := voicescreen.Open(filepath.Join(t.TempDir(), "test.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	closeEngine(t, e)
	closeEngine(t, e) // again: the same answer
	ctx := t.Context()
	calls := map[string]func() error{
		"Initiate": func() error {
			_, err := e.Initiate(ctx, voicescreen.InitiateRequest{UserID: "u", Consent: true})
			return err
		},
		"Submit":   func() error { _, err := e.Submit(ctx, "s", bytes.NewReader(tiny), nil); return err },
		"Result":   func() error { _, err := e.Result(ctx, "s"); return err },
		"Results":  func() error { _, _, err := e.Results(ctx, "u", voicescreen.Page{}); return err },
		"Wait":     func() error { _, err := e.Wait(ctx, "s"); return err },
		"Feedback": func() error { return e.Feedback(ctx, "s", voicescreen.Feedback{PHQ2: []int{0, 0}}) },
		"Delete":   func() error { return e.Delete(ctx, "s") },
		"Forget":   func() error { return e.Forget(ctx, "u") },
		"Known":    func() error { _, err := e.Known(ctx, "u"); return err },
		"Ready":    func() error { return e.Ready(ctx) },
		"Busy":     func() error { return e.Busy(ctx) },
		"Analyze":  func() error { _, err := e.Analyze(ctx, bytes.NewReader(tiny), nil); return err },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, voicescreen.ErrClosed) {
			t.Errorf("%s: got %v, want ErrClosed", name, err)
		}
	}
}

func TestModelsReplaceShippedOnes(t *testing.T) {
	opts := testOptions()
	fake := &fakeScorer{categories: []screen.Category{screen.Anxiety}}
	opts.Scoring.Models = []models.Scorer{fake}
	e := newEngine(t, newMemory(t), opts)
	id := initiate(t, e, "u")
	submit(t, e, id, speech())
	r := wait(t, e, id)
	if r.Status != screen.StatusSuccess || r.Scores[0].Model == "fake" || r.Scores[1].Model != "fake" {
		t.Errorf("got %v %+v, want the shipped depression model and the fake anxiety model", r.Status, r.Scores)
	}
}

func TestOnResultIsCalledOnce(t *testing.T) {
	opts := testOptions()
	var mu sync.Mutex
	got := map[string]int{}
	opts.Results.OnResult = func(_ context.Context, account string, r *voicescreen.Result) {
		mu.Lock()
		defer mu.Unlock()
		got[account+"/"+r.SessionID+"/"+r.Status.String()]++
		panic("a hook that panics harms nobody")
	}
	e := newEngine(t, newMemory(t), opts)
	a := e.Tenant("clinic")
	id := initiate(t, a, "u")
	if _, err := a.Submit(t.Context(), id, bytes.NewReader(tiny), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Wait(testContext(t), id); err != nil {
		t.Fatal(err)
	}
	closeEngine(t, e)
	if len(got) != 1 || got["clinic/"+id+"/failed"] != 1 {
		t.Errorf("got calls %v, want one for the failed session", got)
	}
}

// lowest is the lowest class of a category, 0 if it has none.
func lowest(c screen.Category) screen.Severity {
	if classes := c.Severities(); classes != nil {
		return classes[0]
	}
	return 0
}
