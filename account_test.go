package voicescreen_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

func TestInitiateNamesEveryFieldAtFault(t *testing.T) {
	e := newEngine(t, newMemory(t), testOptions())
	const u, m = voicescreen.Unprovided, voicescreen.Malformed
	type fields = map[string]voicescreen.Problem
	for name, c := range map[string]struct {
		r    voicescreen.InitiateRequest
		want fields
	}{
		"no user":              {voicescreen.InitiateRequest{}, fields{"user_id": u}},
		"user of bad UTF-8":    {voicescreen.InitiateRequest{UserID: "a\xff"}, fields{"user_id": m}},
		"user with a newline":  {voicescreen.InitiateRequest{UserID: "a\nb"}, fields{"user_id": m}},
		"user too long":        {voicescreen.InitiateRequest{UserID: strings.Repeat("a", screen.MaxUserID+1)}, fields{"user_id": m}},
		"longest user":         {voicescreen.InitiateRequest{UserID: strings.Repeat("a", screen.MaxUserID)}, nil},
		"any other characters": {voicescreen.InitiateRequest{UserID: "日本 ../%2f 😀"}, nil},
		"all of it wrong": {
			voicescreen.InitiateRequest{Metadata: screen.Metadata{Age: -1, Gender: 99, Race: 99, Ethnicity: 99, Zipcode: "1234x", Weight: -1}},
			fields{"user_id": u, "metadata.age": m, "metadata.gender": m, "metadata.race": m, "metadata.ethnicity": m, "metadata.zipcode": m, "metadata.weight": m},
		},
		"zip code of four digits": {voicescreen.InitiateRequest{UserID: "u", Metadata: screen.Metadata{Zipcode: "1234"}}, fields{"metadata.zipcode": m}},
		"all of it right": {
			voicescreen.InitiateRequest{UserID: "u", Metadata: screen.Metadata{Age: 1, Gender: screen.TransgenderMale, Race: screen.OtherRace, Ethnicity: screen.NotHispanic, Zipcode: "01234", Weight: 1, English: new(bool)}},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.Initiate(t.Context(), c.r)
			if c.want == nil {
				if !errors.Is(err, voicescreen.ErrConsent) {
					t.Errorf("got %v, want ErrConsent and nothing else", err)
				}
				return
			}
			var invalid *voicescreen.InvalidError
			if !errors.As(err, &invalid) || !errors.Is(err, voicescreen.ErrInvalid) || !maps.Equal(invalid.Fields, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if len(c.r.UserID) > 1 && strings.Contains(err.Error(), c.r.UserID) {
				t.Errorf("the error holds the user: %v", err)
			}
		})
	}
}

// countingStore counts what is created.
type countingStore struct {
	store.Store
	created int
}

func (c *countingStore) Create(ctx context.Context, s *store.Session) error {
	c.created++
	return c.Store.Create(ctx, s)
}

func TestWithoutConsentNothingIsStored(t *testing.T) {
	st := &countingStore{Store: newMemory(t)}
	e := newEngine(t, st, testOptions())
	if _, err := e.Initiate(t.Context(), voicescreen.InitiateRequest{UserID: "u"}); !errors.Is(err, voicescreen.ErrConsent) {
		t.Errorf("got %v, want ErrConsent", err)
	}
	if st.created != 0 {
		t.Errorf("got %d sessions created, want none", st.created)
	}
}

func TestInitiateKeepsNoMemoryOfTheCaller(t *testing.T) {
	st := newMemory(t)
	e := newEngine(t, st, testOptions())
	english := true
	r := voicescreen.InitiateRequest{UserID: "u", Consent: true, Metadata: screen.Metadata{English: &english}}
	id, err := e.Initiate(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	english = false
	s, err := st.Get(t.Context(), "", id)
	if err != nil || s.Metadata.English == nil || !*s.Metadata.English {
		t.Errorf("got %+v, %v, want the language as it was", s, err)
	}
}

func TestTakenIdentifiersAreNotReused(t *testing.T) {
	opts := testOptions()
	ids := []string{"a", "a", "b", "a", "a", "a"}
	opts.NewID = func() string { id := ids[0]; ids = ids[1:]; return id }
	st := newMemory(t)
	e := newEngine(t, st, opts)
	if got := initiate(t, e, "u"); got != "a" {
		t.Errorf("got %q, want a", got)
	}
	if got := initiate(t, e, "u"); got != "b" {
		t.Errorf("got %q, want b: a is taken", got)
	}
	if _, err := e.Initiate(t.Context(), voicescreen.InitiateRequest{UserID: "u", Consent: true}); !errors.Is(err, store.ErrExists) {
		t.Errorf("got %v, want ErrExists after three tries", err)
	}
}

func TestAccountsAreApart(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		e := newEngine(t, st, testOptions())
		a, b := e.Tenant("a"), e.Tenant("b")
		ctx := testContext(t)
		id := initiate(t, a, "shared")
		calls := map[string]func(id string) error{
			"Submit":   func(id string) error { _, err := b.Submit(ctx, id, bytes.NewReader(tiny), nil); return err },
			"Result":   func(id string) error { _, err := b.Result(ctx, id); return err },
			"Wait":     func(id string) error { _, err := b.Wait(ctx, id); return err },
			"Feedback": func(id string) error { return b.Feedback(ctx, id, voicescreen.Feedback{PHQ2: []int{0, 0}}) },
			"Delete":   func(id string) error { return b.Delete(ctx, id) },
		}
		check := func(state string) {
			for name, call := range calls {
				other, absent := call(id), call("nosuchsession")
				if !errors.Is(other, voicescreen.ErrNotFound) || other.Error() != absent.Error() {
					t.Errorf("%s of an %s session of another account: got %v, want %v", name, state, other, absent)
				}
			}
			if list, _, err := b.Results(ctx, "shared", voicescreen.Page{}); err != nil || len(list) != 0 {
				t.Errorf("got listing %v, %v, want none of another account", list, err)
			}
			if err := b.Forget(ctx, "shared"); err != nil {
				t.Error(err)
			}
			if _, err := a.Result(ctx, id); err != nil {
				t.Errorf("after what another account did: %v", err)
			}
		}
		check("initiated")
		if _, err := a.Submit(ctx, id, bytes.NewReader(tiny), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Wait(ctx, id); err != nil {
			t.Fatal(err)
		}
		check("failed")
	})
}

func TestKnownUsers(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		opts := testOptions()
		opts.Workers = -1
		e := newEngine(t, st, opts)
		ctx := testContext(t)
		initiate(t, e, " waits")
		submit(t, e, initiate(t, e, "submitted"), tiny)
		for user, want := range map[string]bool{" waits": true, "waits": false, "submitted": true, "nobody": false} {
			if got, err := e.Known(ctx, user); got != want || err != nil {
				t.Errorf("%q: got %v (%v), want %v", user, got, err, want)
			}
		}
		if got, err := e.Tenant("other").Known(ctx, "submitted"); got || err != nil {
			t.Errorf("a user of another account: got %v (%v), want false", got, err)
		}
		if _, err := e.Known(ctx, ""); !errors.Is(err, voicescreen.ErrInvalid) {
			t.Errorf("no user: got %v, want %v", err, voicescreen.ErrInvalid)
		}
		if err := e.Forget(ctx, "submitted"); err != nil {
			t.Fatal(err)
		}
		if got, err := e.Known(ctx, "submitted"); got || err != nil {
			t.Errorf("a user that was erased: got %v (%v), want false", got, err)
		}
	})
}

func TestForgetAndDeleteErase(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		opts := testOptions()
		opts.Workers = -1
		e := newEngine(t, st, opts)
		ctx := testContext(t)
		var ids, refs []string
		for i := range 4 {
			id := initiate(t, e, "gone")
			if i > 0 {
				submit(t, e, id, tiny)
				s, err := st.Get(ctx, "", id)
				if err != nil {
					t.Fatal(err)
				}
				refs = append(refs, s.Audio)
			}
			ids = append(ids, id)
		}
		kept := initiate(t, e, "stays")
		submit(t, e, kept, tiny)

		if err := e.Delete(ctx, ids[1]); err != nil {
			t.Error(err)
		}
		if err := e.Delete(ctx, ids[1]); !errors.Is(err, voicescreen.ErrNotFound) {
			t.Errorf("second Delete: got %v, want ErrNotFound", err)
		}
		if err := e.Forget(ctx, "gone"); err != nil {
			t.Error(err)
		}
		if err := e.Forget(ctx, "gone"); err != nil {
			t.Errorf("second Forget: got %v, want nil", err)
		}
		for _, id := range ids {
			if _, err := e.Result(ctx, id); !errors.Is(err, voicescreen.ErrNotFound) {
				t.Errorf("session of a forgotten user: got %v, want ErrNotFound", err)
			}
		}
		for _, ref := range refs {
			if _, err := st.Audio().Open(ctx, ref); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("audio of a forgotten user: got %v, want ErrNotFound", err)
			}
		}
		if n, err := st.Due(ctx); err != nil || n != 1 {
			t.Errorf("got %d due, %v, want the other user's", n, err)
		}
		if r, err := e.Result(ctx, kept); err != nil || r.Status != screen.StatusProcessing {
			t.Errorf("other user: got %+v, %v, want processing", r, err)
		}
	})
}

func TestWait(t *testing.T) {
	st := newMemory(t)
	opts := testOptions()
	opts.Workers = -1
	e := newEngine(t, st, opts)
	id := initiate(t, e, "u")

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := e.Wait(ctx, id); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
	type answer struct {
		r   *voicescreen.Result
		err error
	}
	start := func(e *voicescreen.Engine, id string) <-chan answer {
		c := make(chan answer, 1)
		go func() { r, err := e.Wait(context.Background(), id); c <- answer{r, err} }()
		return c
	}
	byPoll := start(e, id)
	submit(t, e, id, tiny)

	// Another engine does the work: the first one learns of it by polling.
	slow := testOptions()
	slow.Queue.Poll = 5 * time.Millisecond
	other := newEngine(t, st, slow)
	if got := <-byPoll; got.err != nil || got.r.Status != screen.StatusFailed {
		t.Errorf("by polling: got %+v, want failed", got)
	}
	deleted := start(other, initiate(t, other, "gone"))
	if err := other.Forget(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	if got := <-deleted; !errors.Is(got.err, voicescreen.ErrNotFound) {
		t.Errorf("of a forgotten session: got %+v, want ErrNotFound", got)
	}
	closing := start(other, initiate(t, other, "u"))
	time.Sleep(10 * time.Millisecond) // so that it waits; if it does not, the answer is the same
	closeEngine(t, other)
	if got := <-closing; !errors.Is(got.err, voicescreen.ErrClosed) {
		t.Errorf("of a closing engine: got %+v, want ErrClosed", got)
	}
}

func TestWaitIsWokenByTheWorker(t *testing.T) {
	opts := testOptions()
	opts.Queue.Poll = time.Hour // neither the worker nor Wait may need it
	e := newEngine(t, newMemory(t), opts)
	time.Sleep(10 * time.Millisecond) // so that the workers found nothing to do
	id := initiate(t, e, "u")
	submit(t, e, id, tiny)
	if r := wait(t, e, id); r.Status != screen.StatusFailed {
		t.Errorf("got %v, want failed", r.Status)
	}
}

func TestResultsPages(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		now := newClock()
		opts := testOptions()
		setClock(opts, st, now)
		opts.Workers = -1
		e := newEngine(t, st, opts)
		ctx := testContext(t)
		const n = 150 // more than are asked of the store at once
		var want []string
		for i := range n {
			id := initiate(t, e, "u")
			if i%3 != 0 { // the others stay without a submission
				submit(t, e, id, tiny)
				want = append(want, id)
			}
			switch i % 10 {
			case 4:
				now.Add(time.Millisecond) // within a second the newest is first too
			case 9:
				now.Add(time.Second)
			}
		}
		all, next, err := e.Results(ctx, "u", voicescreen.Page{})
		if err != nil || next != "" || len(all) != len(want) {
			t.Fatalf("got %d results, cursor %q, %v, want %d", len(all), next, err, len(want))
		}
		ordered := slices.IsSortedFunc(all, func(a, b *voicescreen.Result) int {
			if c := b.CreatedAt.Compare(a.CreatedAt); c != 0 {
				return c
			}
			return strings.Compare(a.SessionID, b.SessionID)
		})
		if !ordered {
			t.Error("results are not by CreatedAt descending, then SessionID")
		}
		for i, r := range all {
			if want := want[len(want)-1-i]; r.SessionID != want {
				t.Fatalf("got session %s at %d, want %s: the order of creation, the newest first", r.SessionID, i, want)
			}
		}
		if first := all[0].CreatedAt; now.Now().Sub(first.Add(time.Second)).Abs() > time.Millisecond {
			t.Errorf("got CreatedAt %v first, want the newest, of a second before %v", first, now.Now())
		}
		for _, limit := range []int{1, 7, len(want) - 1, len(want), len(want) + 1} {
			var paged []*voicescreen.Result
			page := voicescreen.Page{Limit: limit}
			for {
				part, next, err := e.Results(ctx, "u", page)
				if err != nil || len(part) > limit || len(part) == 0 {
					t.Fatalf("limit %d: got %d results, %v", limit, len(part), err)
				}
				paged = append(paged, part...)
				if next == "" {
					break
				}
				page.Cursor = next
			}
			same := slices.EqualFunc(paged, all, func(a, b *voicescreen.Result) bool { return a.SessionID == b.SessionID })
			if !same {
				t.Errorf("limit %d: got other results than without a limit", limit)
			}
		}
		if list, next, err := e.Results(ctx, "nobody", voicescreen.Page{Limit: 3}); err != nil || list == nil || len(list) != 0 || next != "" {
			t.Errorf("unknown user: got %v, %q, %v, want an empty list", list, next, err)
		}
		for _, page := range []voicescreen.Page{{Limit: -1}, {Cursor: "x"}, {Cursor: "AQ"}} {
			if _, _, err := e.Results(ctx, "u", page); !errors.Is(err, voicescreen.ErrInvalid) {
				t.Errorf("%+v: got %v, want ErrInvalid", page, err)
			}
		}
	})
}

// TestNothingOfAPatientIsLogged puts a canary into every field that comes from
// a patient, lets everything go wrong, and looks for it in logs and errors.
func TestNothingOfAPatientIsLogged(t *testing.T) {
	const canary = "canary7301"
	var log bytes.Buffer
	opts := testOptions()
	opts.Workers = 1
	opts.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	opts.Scoring.Models = []models.Scorer{newFake(func(_ context.Context, in *features.Recording) ([]screen.Score, error) {
		panic(fmt.Sprint(canary, in.Metadata.Zipcode))
	})}
	e, err := voicescreen.New(newMemory(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	a := e.Tenant("account-" + canary)
	id, err := a.Initiate(t.Context(), voicescreen.InitiateRequest{UserID: canary, Consent: true, Metadata: screen.Metadata{Age: 7301, Zipcode: "73017"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Submit(t.Context(), id, bytes.NewReader(speech()), nil); err != nil {
		t.Fatal(err)
	}
	r, err := a.Wait(testContext(t), id)
	if err != nil || r.Status != screen.StatusFailed || r.Failure.Code != screen.CodeInternal {
		t.Fatalf("got %+v, %v, want internal_error", r, err)
	}
	if strings.Contains(r.Failure.Message, canary) {
		t.Errorf("the failure says %q", r.Failure.Message)
	}
	closeEngine(t, e)
	if !strings.Contains(log.String(), id) {
		t.Errorf("got log %q, want a line on the session", log.String())
	}
	for _, secret := range []string{canary, "73017"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log holds %q:\n%s", secret, log.String())
		}
	}
}

// TestAccountNamesHaveALimit tries names that no store takes.
func TestAccountNamesHaveALimit(t *testing.T) {
	e := newEngine(t, newMemory(t), testOptions())
	request := voicescreen.InitiateRequest{UserID: "u", Consent: true}
	for _, name := range []string{strings.Repeat("a", screen.MaxAccount+1), "\xff", "a\x00"} {
		var invalid *voicescreen.InvalidError
		if _, err := e.Tenant(name).Initiate(t.Context(), request); !errors.As(err, &invalid) || invalid.Fields["account"] == "" {
			t.Errorf("account %.9q: got error %v, want an InvalidError of the account", name, err)
		}
	}
	if _, err := e.Tenant(strings.Repeat("a", screen.MaxAccount)).Initiate(t.Context(), request); err != nil {
		t.Errorf("the longest name: %v", err)
	}
}
