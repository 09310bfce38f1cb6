package postgres_test

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, now func() time.Time) store.Store { return open(t, database(t), at(now)) })
}

func TestStoreIsShared(t *testing.T) {
	t.Parallel()
	urls := directories()
	storetest.RunShared(t, func(t *testing.T, dir string, now func() time.Time) store.Store {
		return open(t, urls(t, dir), at(now))
	})
}

// directories returns a function that gives each directory a database.
func directories() func(t *testing.T, dir string) (url string) {
	var urls sync.Map // by directory
	return func(t *testing.T, dir string) string {
		t.Helper()
		url, ok := urls.Load(dir)
		if !ok {
			url = database(t)
			urls.Store(dir, url)
		}
		return url.(string)
	}
}

func TestColumnsCanBeReadInPsql(t *testing.T) {
	t.Parallel()
	s := started(t)
	url := database(t)
	st := open(t, url, nil)
	defer st.Close()
	session := newSession("s")
	session.Status, session.Product = screen.StatusFailed, screen.DepressionAnxiety
	session.CreatedAt = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	session.Metadata = screen.Metadata{Age: 42, Gender: screen.Female}
	session.Labels = screen.Labels{PHQ2: []int{1, 2}}
	session.Failure = &screen.Failure{Code: screen.CodeNoSpeech}
	if err := st.Create(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	got, err := s.SQL(t.Context(), databaseName(url), `
		SET TimeZone = 'UTC';
		SELECT account, user_id, status, product, created_at, due IS NULL, metadata->>'gender', metadata->'age', labels->'phq_2'->1, failure->>'error'
		FROM voicescreen.sessions`)
	want := "clinic|patient|failed|" + screen.DepressionAnxiety.String() + "|2026-03-01 12:00:00+00|t|Female|42|2|no_speech_error"
	if got != want || err != nil {
		t.Errorf("got %q and error %v, want %q", got, err, want)
	}
}

func TestADamagedRowIsAnErrorAndHoldsUpNobody(t *testing.T) {
	t.Parallel()
	url := database(t)
	st := open(t, url, nil)
	defer st.Close()
	long := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	broken := map[string]string{
		"state": "status = 'lost'", "product": "product = 'x'", "speech": "speech = 'x'", "metadata": `metadata = '{"age": -1}'`, "labels": `labels = '[]'`,
		"failure": `failure = '7'`, "time": "updated_at = 'infinity'", "attempts": "attempts = -1", "analysis": `analysis = '\x00'`,
	}
	for i, name := range append(slices.Sorted(maps.Keys(broken)), "whole") {
		s := newSession(name)
		s.Status, s.Due, s.Notify = screen.StatusProcessing, long.Add(time.Duration(i)*time.Second), long.Add(time.Duration(i)*time.Second)
		if err := st.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if set := broken[name]; set != "" {
			if _, err := started(t).SQL(t.Context(), databaseName(url), "UPDATE voicescreen.sessions SET "+set+" WHERE id = '"+name+"'"); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name := range broken {
		if _, err := st.Get(t.Context(), "clinic", name); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("Get of a session with damaged %s: got error %v, want %v", name, err, store.ErrDamaged)
		}
	}
	list, err := st.Scan(t.Context(), "", 100)
	var damaged *store.DamagedError
	if len(list) != 1 || !errors.As(err, &damaged) || damaged.Records != len(broken) {
		t.Errorf("Scan: got %d sessions and error %v, want 1 and %d damaged", len(list), err, len(broken))
	}
	// An analysis is not read by Next.
	for range 2 {
		for _, take := range []func(store.Change) (*store.Session, error){
			func(c store.Change) (*store.Session, error) { return st.Next(t.Context(), c) },
			func(c store.Change) (*store.Session, error) { return st.NextNotice(t.Context(), nil, c) },
		} {
			s, err := take(func(s *store.Session, _ time.Time) error {
				s.Due, s.Notify = s.Due.Add(time.Hour), s.Notify.Add(time.Hour)
				return nil
			})
			if err != nil || s.ID != "whole" && s.ID != "analysis" {
				t.Errorf("Next: got %+v and error %v, want one that can be read", s, err)
			}
		}
	}
	for name := range broken {
		if err := st.Delete(t.Context(), "clinic", name); err != nil {
			t.Errorf("Delete: %v", err)
		}
	}
}

func TestTheTimeDoesNotGoBack(t *testing.T) {
	t.Parallel()
	st := opened(t, nil)
	if err := st.Create(t.Context(), newSession("s")); err != nil {
		t.Fatal(err)
	}
	var before time.Time
	show := func(s *store.Session, now time.Time) error {
		if now.Before(before) {
			t.Errorf("got %v after %v", now, before)
		}
		before = now
		return nil
	}
	for i := range 4 {
		if i == 2 { // the server's clock was an hour ahead, and was set right
			before = time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
			st.Saw(before)
		}
		if _, err := st.Update(t.Context(), "clinic", "s", show); err != nil {
			t.Fatal(err)
		}
	}
}
