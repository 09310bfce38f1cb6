package voicescreen_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

const retain = 48 * time.Hour

// gone waits until a session is erased.
func gone(t *testing.T, e *voicescreen.Engine, id string) {
	t.Helper()
	for end := time.Now().Add(soon); ; time.Sleep(time.Millisecond) {
		_, err := e.Result(t.Context(), id)
		if errors.Is(err, voicescreen.ErrNotFound) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if time.Now().After(end) {
			t.Fatal("the session is still there")
		}
	}
}

// advance sets the clock forward and returns once a sweep at the new time has
// begun to erase: it makes a session that must be erased by it.
func advance(t *testing.T, st store.Store, e *voicescreen.Engine, now *clock, d time.Duration) {
	t.Helper()
	old := now.Now().Add(-10 * retain)
	id := "old" + now.Now().Format(time.RFC3339Nano)
	if err := st.Create(t.Context(), &store.Session{ID: id, UserID: "old", Status: screen.StatusInitiated, CreatedAt: old, UpdatedAt: old}); err != nil {
		t.Fatal(err)
	}
	now.Add(d)
	gone(t, e, id)
}

func TestResultsAreErasedAfterTheRetentionPeriod(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		now := newClock()
		opts := testOptions()
		setClock(opts, st, now)
		opts.Results.Retain = retain
		e := newEngine(t, st, opts)
		done, open := initiate(t, e, "u"), initiate(t, e, "u")
		submit(t, e, done, tiny)
		if _, err := e.Wait(testContext(t), done); err != nil {
			t.Fatal(err)
		}
		advance(t, st, e, now, retain-2*time.Second) // sessions begin at a whole second
		for _, id := range []string{done, open} {
			if _, err := e.Result(t.Context(), id); err != nil {
				t.Errorf("before the period is over: %v", err)
			}
		}
		now.Add(voicescreen.SweepEvery)
		gone(t, e, done)
		gone(t, e, open)
		if list, _, err := e.Results(t.Context(), "u", voicescreen.Page{}); len(list) > 0 || err != nil {
			t.Errorf("got %d results and error %v, want none", len(list), err)
		}
	})
}

func TestALabelKeepsASessionForAnotherPeriod(t *testing.T) {
	st, now := newMemory(t), newClock()
	opts := testOptions()
	setClock(opts, st, now)
	opts.Results.Retain = retain
	e := newEngine(t, st, opts)
	id := initiate(t, e, "u")
	submit(t, e, id, tiny)
	if _, err := e.Wait(testContext(t), id); err != nil {
		t.Fatal(err)
	}
	now.Add(voicescreen.FeedbackWindow)
	if err := e.Feedback(t.Context(), id, voicescreen.Feedback{PHQ2: []int{1, 2}}); err != nil {
		t.Fatal(err)
	}
	advance(t, st, e, now, retain-time.Second)
	if _, err := e.Result(t.Context(), id); err != nil {
		t.Errorf("before the period is over: %v", err)
	}
	now.Add(voicescreen.SweepEvery)
	gone(t, e, id)
}

func TestWhatIsNotAnalysedIsNotErased(t *testing.T) {
	st, now := newMemory(t), newClock()
	opts := testOptions()
	setClock(opts, st, now)
	opts.Workers, opts.Results.Retain = -1, retain
	e := newEngine(t, st, opts)
	id := initiate(t, e, "u")
	submit(t, e, id, tiny)
	advance(t, st, e, now, 10*retain)
	if r, err := e.Result(t.Context(), id); err != nil || r.Status != screen.StatusProcessing {
		t.Errorf("got %v and error %v, want a session that is processing", r, err)
	}
}

// TestAPeriodHoldsForWhatIsStored closes the engine that knew no period, and
// opens the store with one: more sessions than are erased in one step.
func TestAPeriodHoldsForWhatIsStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	now := newClock()
	opts := testOptions()
	opts.Store.Now = now.Now
	e, err := voicescreen.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, 250)
	for i := range ids {
		ids[i] = initiate(t, e, "u")
	}
	now.Add(retain + time.Second)
	closeEngine(t, e)
	opts.Results.Retain = retain
	if e, err = voicescreen.Open(path, opts); err != nil {
		t.Fatal(err)
	}
	defer closeEngine(t, e)
	kept := initiate(t, e, "u")
	for _, id := range ids {
		gone(t, e, id)
	}
	if _, err := e.Result(t.Context(), kept); err != nil {
		t.Errorf("the session that was made now: %v", err)
	}
}

// TestWhatIsErasedIsTold erases nothing while nobody can be told, and then tells
// of each session once.
func TestWhatIsErasedIsTold(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		var mu sync.Mutex // protects what follows
		var told []screen.SessionKey
		deaf := errors.New("deaf")
		asked := make(chan struct{}, 1000)
		now := newClock()
		opts := testOptions()
		setClock(opts, st, now)
		opts.Results.Retain = retain
		opts.Results.Erased = func(sessions []screen.SessionKey) error {
			mu.Lock()
			defer mu.Unlock()
			if deaf != nil {
				asked <- struct{}{}
				return deaf
			}
			told = append(told, sessions...)
			return nil
		}
		e := newEngine(t, st, opts)
		want := []screen.SessionKey{{Account: "", ID: initiate(t, e, "u")}, {Account: "a", ID: initiate(t, e.Tenant("a"), "u")}}
		<-asked // at the start
		now.Add(2 * retain)
		<-asked
		for _, key := range want {
			if _, err := e.Tenant(key.Account).Result(t.Context(), key.ID); err != nil {
				t.Errorf("while nobody can be told: %v", err)
			}
		}
		mu.Lock()
		deaf = nil
		mu.Unlock()
		now.Add(voicescreen.SweepEvery)
		gone(t, e, want[0].ID)
		closeEngine(t, e)
		byAccount := func(a, b screen.SessionKey) int { return strings.Compare(a.Account, b.Account) }
		if slices.SortFunc(told, byAccount); !slices.Equal(told, want) {
			t.Errorf("got told of %v, want %v", told, want)
		}
	})
}

func TestPeriodsThatCutLabelsOffAreRefused(t *testing.T) {
	for _, d := range []time.Duration{-1, 1, voicescreen.FeedbackWindow - 1} {
		opts := testOptions()
		opts.Results.Retain = d
		if e, err := voicescreen.New(newMemory(t), opts); !errors.Is(err, voicescreen.ErrInvalid) {
			t.Errorf("%v: got engine %v and error %v, want %v", d, e, err, voicescreen.ErrInvalid)
		}
	}
	opts := testOptions()
	opts.Results.Retain = voicescreen.FeedbackWindow
	newEngine(t, newMemory(t), opts)
}

// TestAudioWithoutASessionIsRemoved leaves the audio of an upload whose session
// never came to refer to it, beside that of a session in the queue. In memory,
// where the store's clock has its age: that of a file has the machine's.
func TestAudioWithoutASessionIsRemoved(t *testing.T) {
	now := newClock()
	st := newMemory(t)
	opts := testOptions()
	setClock(opts, st, now)
	opts.Workers = -1
	e := newEngine(t, st, opts)
	id := initiate(t, e, "u")
	submit(t, e, id, tiny)
	orphan, err := st.Audio().Put(t.Context(), bytes.NewReader(tiny))
	if err != nil {
		t.Fatal(err)
	}
	ctx, _, _, sweeper := e.Background()
	there := func(ref string) bool {
		f, err := st.Audio().Open(t.Context(), ref)
		if err == nil {
			f.Close()
		} else if !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	now.Add(23 * time.Hour)
	if !sweeper.Sweep(ctx, nil) || !there(orphan) {
		t.Error("audio of 23 hours is gone: its session may still come")
	}
	now.Add(2 * time.Hour)
	s, err := st.Get(t.Context(), "", id)
	if err != nil {
		t.Fatal(err)
	}
	if !sweeper.Sweep(ctx, nil) || there(orphan) || !there(s.Audio) {
		t.Errorf("after 25 hours: audio without a session is there %t, that of the queue %t, want false, true", there(orphan), there(s.Audio))
	}
}

// TestOrphanedAudioIsSweptByAge has audio that no session refers to, of now and
// of two days ago, in a store that is open.
func TestOrphanedAudioIsSweptByAge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	st, err := bolt.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var refs []string
	for range 2 {
		ref, err := st.Audio().Put(t.Context(), strings.NewReader("audio"))
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(filepath.Join(path+".audio", refs[0]+".audio"), old, old); err != nil {
		t.Fatal(err)
	}
	newEngine(t, st, testOptions())
	eventually(t, "the older one is removed", func() bool {
		f, err := st.Audio().Open(t.Context(), refs[0])
		if err == nil {
			_ = f.Close()
		}
		return errors.Is(err, store.ErrNotFound)
	})
	f, err := st.Audio().Open(t.Context(), refs[1])
	if err != nil {
		t.Fatalf("the other one: %v", err)
	}
	_ = f.Close()
}
