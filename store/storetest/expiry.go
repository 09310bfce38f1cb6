package storetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

var expiryCases = []testCase{
	{"Expire removes sessions kept for the age or longer, of any account", func(t *testing.T, st *subject) {
		create(t, st, kept("a", "s1", screen.StatusSuccess, at(10)), kept("b", "s2", screen.StatusFailed, at(20)), kept("a", "s3", screen.StatusInitiated, at(30)))
		create(t, st, kept("a", "s4", screen.StatusSuccess, at(30).Add(time.Microsecond)))
		wantExpired(t, st, at(10).Add(-time.Microsecond), 9, 0)
		wantExpired(t, st, at(30), 9, 3)
		wantExpired(t, st, at(30), 9, 0)
		for account, id := range map[string]string{"a": "s1", "b": "s2"} {
			_, err := st.Get(t.Context(), account, id)
			wantErr(t, "Get", err, store.ErrNotFound)
		}
		get(t, st, "a", "s4")
		if list, err := st.List(t.Context(), "a", "user", nil, 9); err != nil || len(list) != 1 {
			t.Errorf("List: got %v and error %v, want s4 alone", ids(list), err)
		}
	}},
	{"queued and running sessions do not expire", func(t *testing.T, st *subject) {
		create(t, st, kept("a", "s1", screen.StatusProcessing, at(1)), kept("a", "s2", screen.StatusProcessing, at(1)))
		wantExpired(t, st, at(99), 9, 0)
		setState(t, st, "s1", screen.StatusFailed, at(50))
		wantExpired(t, st, at(49), 9, 0)
		wantExpired(t, st, at(50), 9, 1)
	}},
	{"retention begins when the session last changed", func(t *testing.T, st *subject) {
		create(t, st, kept("a", "s", screen.StatusInitiated, at(1)))
		setState(t, st, "s", screen.StatusProcessing, at(2))
		setState(t, st, "s", screen.StatusSuccess, at(3))
		setState(t, st, "s", screen.StatusSuccess, at(40))
		wantExpired(t, st, at(39), 9, 0)
		wantExpired(t, st, at(40), 9, 1)
	}},
	{"Expire removes at most limit sessions a call, and all in the end", func(t *testing.T, st *subject) {
		for i := range 7 {
			create(t, st, kept("a", numbered(i), screen.StatusSuccess, at(i)))
		}
		for _, limit := range []int{0, -1} {
			wantExpired(t, st, at(99), limit, 0)
		}
		wantExpired(t, st, at(99), 3, 3)
		wantExpired(t, st, at(99), 3, 3)
		wantExpired(t, st, at(99), 3, 1)
		wantExpired(t, st, at(99), 3, 0)
	}},
	{"an expired session leaves nothing", func(t *testing.T, st *subject) {
		s := full() // due, with a notice, of a user
		s.Audio = put(t, st, strings.NewReader("audio"))
		create(t, st, s)
		wantExpired(t, st, s.UpdatedAt, 9, 1)
		wantNothing(t, st, s)
	}},
	{"Delete and Forget leave nothing", func(t *testing.T, st *subject) {
		for name, erase := range map[string]func(s *store.Session) error{
			"Delete": func(s *store.Session) error { return st.Delete(t.Context(), s.Account, s.ID) },
			"Forget": func(s *store.Session) error {
				_, err := st.Forget(t.Context(), s.Account, s.UserID)
				return err
			},
		} {
			s := full()
			s.Audio = put(t, st, strings.NewReader("audio"))
			create(t, st, s)
			wantErr(t, name, erase(s), nil)
			wantNothing(t, st, s)
		}
	}},
	{"of concurrent calls one expires each session", func(t *testing.T, st *subject) {
		const sessions = 40
		for i := range sessions {
			create(t, st, kept("a", numbered(i), screen.StatusSuccess, at(1)))
		}
		got := make([][]screen.SessionKey, racers)
		race(racers, func(i int) {
			for {
				list, err := st.expireUntil(t.Context(), at(1), 3)
				if err != nil {
					t.Errorf("Expire: %v", err)
				}
				if len(list) == 0 {
					return
				}
				got[i] = append(got[i], list...)
			}
		})
		times := map[screen.SessionKey]int{}
		for _, key := range slices.Concat(got...) {
			times[key]++
		}
		for i := range sessions {
			if key := (screen.SessionKey{Account: "a", ID: numbered(i)}); times[key] != 1 {
				t.Errorf("session %s expired %d times, want once", key.ID, times[key])
			}
		}
	}},
}

// kept returns a session in a state whose retention began at since.
func kept(account, id string, state screen.Status, since time.Time) *store.Session {
	s := session(account, id, "user")
	s.Status, s.UpdatedAt = state, since
	return s
}

// setState sets the state and UpdatedAt of a session of account a.
func setState(t *testing.T, st *subject, id string, state screen.Status, now time.Time) {
	t.Helper()
	if _, err := st.Update(t.Context(), "a", id, func(s *store.Session, _ time.Time) error { s.Status, s.UpdatedAt = state, now; return nil }); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

func wantExpired(t *testing.T, st *subject, before time.Time, limit, want int) {
	t.Helper()
	if list, err := st.expireUntil(t.Context(), before, limit); len(list) != want || err != nil {
		t.Errorf("Expire before %v, at most %d: got %v and error %v, want %d", before, limit, list, err, want)
	}
}

// wantNothing fails the test if a call finds anything of a removed session, also after
// another account created a session with its ID.
func wantNothing(t *testing.T, st *subject, s *store.Session) {
	t.Helper()
	absent := func() {
		t.Helper()
		late := epoch.AddDate(100, 0, 0)
		_, err := st.Get(t.Context(), s.Account, s.ID)
		wantErr(t, "Get", err, store.ErrNotFound)
		list, err := st.List(t.Context(), s.Account, s.UserID, nil, 9)
		if err != nil || len(list) > 0 {
			t.Errorf("List: got %d sessions and error %v, want none", len(list), err)
		}
		_, err = st.nextAt(t.Context(), late, never(t))
		wantErr(t, "Next", err, store.ErrNoneDue)
		_, err = st.noticeAt(t.Context(), nil, late, never(t))
		wantErr(t, "NextNotice", err, store.ErrNoneDue)
		wantExpired(t, st, time.Unix(0, 0), 9, 0)
		wantDue(t, st, 0)
		wantNoAudio(t, st, s.Audio)
	}
	absent()
	other := session("another account", s.ID, "another user")
	other.UpdatedAt = epoch.AddDate(150, 0, 0)
	create(t, st, other)
	absent()
	wantExpired(t, st, epoch.AddDate(100, 0, 0), 9, 0) // the removed session would be found here
	wantErr(t, "Delete", st.Delete(t.Context(), other.Account, other.ID), nil)
}
