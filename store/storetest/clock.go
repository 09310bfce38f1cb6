package storetest

import (
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

var clockCases = []testCase{
	{"a session created without times gets the store's time", func(t *testing.T, st *subject) {
		st.clock.set(at(5))
		s := session("a", "s", "u")
		s.CreatedAt, s.UpdatedAt = time.Time{}, time.Time{}
		create(t, st, s)
		if !s.CreatedAt.IsZero() {
			t.Error("Create changed the session that it was given")
		}
		s.CreatedAt, s.UpdatedAt = at(5), at(5)
		wantSame(t, "Get", get(t, st, "a", "s"), s)
	}},
	{"a change receives the store's time", func(t *testing.T, st *subject) {
		create(t, st, session("a", "s", "u"))
		for i := range 3 {
			now := at(100 + i)
			wantNow := func(call string) store.Change {
				return func(s *store.Session, got time.Time) error {
					if got != now.UTC() {
						t.Errorf("%s: change was given %v, want %v", call, got, now)
					}
					s.Due, s.Notify = got.Add(time.Second), got.Add(time.Second)
					return nil
				}
			}
			st.clock.set(now)
			_, err := st.Update(t.Context(), "a", "s", wantNow("Update"))
			wantErr(t, "Update", err, nil)
			now = at(200 + i)
			_, err = st.nextAt(t.Context(), now, wantNow("Next"))
			wantErr(t, "Next", err, nil)
			now = at(300 + i)
			_, err = st.noticeAt(t.Context(), nil, now, wantNow("NextNotice"))
			wantErr(t, "NextNotice", err, nil)
		}
	}},
	{"times are kept in whole microseconds", func(t *testing.T, st *subject) {
		create(t, st, session("a", "s", "u"))
		due := at(10).Add(1999)
		s, err := st.Update(t.Context(), "a", "s", func(s *store.Session, _ time.Time) error { s.Due = due; return nil })
		if want := due.Truncate(time.Microsecond); err != nil || s.Due != want || get(t, st, "a", "s").Due != want {
			t.Errorf("got %v and error %v, want %v", s.Due, err, want)
		}
	}},
	{"ages are measured by the store's clock", func(t *testing.T, st *subject) {
		create(t, st, kept("a", "s", screen.StatusSuccess, at(10)))
		st.clock.set(at(20).Add(-time.Microsecond))
		if list, err := st.Expire(t.Context(), 10*time.Second, 9); len(list) != 0 || err != nil {
			t.Errorf("Expire before the age: got %v and error %v, want none", list, err)
		}
		st.clock.set(at(20))
		if list, err := st.Expire(t.Context(), 10*time.Second, 9); len(list) != 1 || err != nil {
			t.Errorf("Expire at the age: got %v and error %v, want one", list, err)
		}
	}},
	{"a head is the session without scores and features", func(t *testing.T, st *subject) {
		want := full()
		create(t, st, want)
		for range 2 {
			s, err := st.Head(t.Context(), want.Account, want.ID)
			if err != nil {
				t.Fatal(err)
			}
			wantSame(t, "Head", s, headOf(want))
			overwriteSession(s)
		}
		for _, key := range [][2]string{{"another", want.ID}, {want.Account, "another"}, {want.Account, ""}} {
			_, err := st.Head(t.Context(), key[0], key[1])
			wantErr(t, "Head", err, store.ErrNotFound)
		}
	}},
}
