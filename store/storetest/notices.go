package storetest

import (
	"maps"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

var noticeCases = []testCase{
	{"NextNotice takes the notice due longest, of all accounts except those left out", func(t *testing.T, st *subject) {
		create(t, st, noticed("a", "s1", at(30)), noticed("a", "s2", at(10)), noticed("b", "s3", at(5)), noticed("", "s4", at(1)))
		create(t, st, session("a", "s0", "u"), queued("a", "s5", at(1)), noticed("a", "s6", time.Unix(0, 0)))
		for _, step := range []struct {
			want    string
			without []string
		}{{"s6", []string{"", "nobody", "A"}}, {"s4", nil}, {"s2", []string{"b", "b"}}, {"s3", []string{""}}, {"s1", nil}} {
			_, err := st.noticeAt(t.Context(), []string{"b", "", "a"}, at(30), never(t))
			wantErr(t, "NextNotice without any account", err, store.ErrNoneDue)
			if got := nextNotice(t, st, at(30), step.without...); got != step.want {
				t.Errorf("without %q: got %q, want %q", step.without, got, step.want)
			}
		}
		_, err := st.noticeAt(t.Context(), nil, at(99), never(t))
		wantErr(t, "NextNotice", err, store.ErrNoneDue)
	}},
	{"a notice is due from its time on", func(t *testing.T, st *subject) {
		create(t, st, noticed("a", "s", at(10)))
		_, err := st.noticeAt(t.Context(), nil, at(10).Add(-time.Microsecond), never(t))
		wantErr(t, "NextNotice before the time", err, store.ErrNoneDue)
		if got := nextNotice(t, st, at(10)); got != "s" {
			t.Errorf("got %q, want s", got)
		}
	}},
	{"NextNotice stores and returns the changed session", func(t *testing.T, st *subject) {
		want := full()
		create(t, st, want)
		got, err := st.noticeAt(t.Context(), nil, want.Notify, func(s *store.Session, _ time.Time) error {
			wantSame(t, "change", s, headOf(want))
			s.Notify = at(1_000_000)
			s.Notices++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want.Notify = at(1_000_000)
		want.Notices++
		wantSame(t, "NextNotice", got, headOf(want))
		wantSame(t, "Get", get(t, st, want.Account, want.ID), want)
	}},
	{"a notice stays due if change fails or leaves Notify unchanged", func(t *testing.T, st *subject) {
		create(t, st, noticed("a", "s", at(10)))
		_, err := st.noticeAt(t.Context(), nil, at(10), func(s *store.Session, _ time.Time) error { s.Notify = at(99); return errChange })
		if err != errChange { // as it is
			t.Errorf("got error %v, want the error itself", err)
		}
		_, err = st.noticeAt(t.Context(), nil, at(10), func(s *store.Session, _ time.Time) error { s.Due = at(99); return nil })
		wantErr(t, "NextNotice", err, store.ErrInvalid)
		if got := nextNotice(t, st, at(10)); got != "s" {
			t.Errorf("got %q, want s", got)
		}
	}},
	{"notices and the queue are separate", func(t *testing.T, st *subject) {
		create(t, st, noticed("a", "s1", at(1)), queued("a", "s2", at(1)))
		wantDue(t, st, 1)
		if got := next(t, st, at(9)); got != "s2" {
			t.Errorf("Next: got %q, want s2", got)
		}
		_, err := st.nextAt(t.Context(), at(9), never(t))
		wantErr(t, "Next", err, store.ErrNoneDue)
		wantDue(t, st, 0)
	}},
	{"Notices counts, by account, those that wait, due or not", func(t *testing.T, st *subject) {
		counter, ok := st.Store.(store.NoticeCounter)
		if !ok {
			t.Log("the store does not count notices")
			return
		}
		want := func(want map[string]int) {
			t.Helper()
			if got, err := counter.Notices(t.Context()); err != nil || !maps.Equal(got, want) {
				t.Errorf("got %v and error %v, want %v", got, err, want)
			}
		}
		want(map[string]int{})
		create(t, st, noticed("a", "s1", at(30)), noticed("a", "s2", at(9_000_000)), noticed("", "s3", at(5)), noticed("b", "s4", at(1)))
		create(t, st, session("c", "s5", "u"), queued("a", "s6", at(1)))
		want(map[string]int{"a": 2, "": 1, "b": 1})
		_, err := st.noticeAt(t.Context(), []string{"", "a"}, at(30), func(s *store.Session, _ time.Time) error { s.Notify = time.Time{}; return nil })
		wantErr(t, "NextNotice", err, nil)
		wantErr(t, "Delete", st.Delete(t.Context(), "a", "s2"), nil)
		want(map[string]int{"a": 1, "": 1})
		wantErr(t, "Close", st.Close(), nil)
		_, err = counter.Notices(t.Context())
		wantErr(t, "Notices of a closed store", err, store.ErrClosed)
	}},
	{"a result ends the queueing and makes a notice due in one transaction", func(t *testing.T, st *subject) {
		create(t, st, queued("a", "s", at(1)))
		finish := func(fail error) error {
			_, err := st.Update(t.Context(), "a", "s", func(s *store.Session, _ time.Time) error {
				s.Status, s.Due, s.Notify = screen.StatusSuccess, time.Time{}, at(5)
				return fail
			})
			return err
		}
		wantErr(t, "Update", finish(errChange), errChange)
		_, err := st.noticeAt(t.Context(), nil, at(9), never(t))
		wantErr(t, "NextNotice after a failed change", err, store.ErrNoneDue)
		wantErr(t, "Update", finish(nil), nil)
		wantDue(t, st, 0)
		if got := nextNotice(t, st, at(9)); got != "s" {
			t.Errorf("got %q, want s", got)
		}
	}},
	{"a removed session has no notice", func(t *testing.T, st *subject) {
		create(t, st, noticed("a", "s1", at(1)), noticed("a", "s2", at(2)), noticed("a", "s3", at(3)))
		wantErr(t, "Delete", st.Delete(t.Context(), "a", "s1"), nil)
		if list, err := st.expireUntil(t.Context(), epoch, 1); len(list) != 1 || err != nil {
			t.Errorf("Expire: got %v and error %v, want one", list, err)
		}
		if n, err := st.Forget(t.Context(), "a", "user"); n != 1 || err != nil {
			t.Errorf("Forget: got %d and error %v, want 1", n, err)
		}
		_, err := st.noticeAt(t.Context(), nil, at(99), never(t))
		wantErr(t, "NextNotice", err, store.ErrNoneDue)
	}},
	{"concurrent calls never see the same Notify of a session", noticeRace},
}

// noticeRace takes notices repeatedly from concurrent senders.
func noticeRace(t *testing.T, st *subject) {
	const sessions, tries = 12, 4
	for i := range sessions {
		create(t, st, noticed(numbered(i%2), numbered(i), at(i%3)))
	}
	takeAll(t, "NextNotice", sessions*tries, func(i int, took func(id string, at time.Time)) error {
		_, err := st.noticeAt(t.Context(), []string{numbered(1 - i%2)}, at(1000), func(s *store.Session, _ time.Time) error {
			took(s.ID, s.Notify)
			s.Notices++
			s.Notify = s.Notify.Add(3 * time.Second)
			if s.Notices == tries {
				s.Notify = time.Time{}
			}
			return nil
		})
		return err
	})
}

// noticed returns a session with a result and a pending notice.
func noticed(account, id string, notify time.Time) *store.Session {
	s := session(account, id, "user")
	s.Status, s.Notify = screen.StatusSuccess, notify
	return s
}

// nextNotice takes the next notice, clears it, and returns the ID of its session.
func nextNotice(t *testing.T, st *subject, now time.Time, without ...string) string {
	t.Helper()
	s, err := st.noticeAt(t.Context(), without, now, func(s *store.Session, _ time.Time) error { s.Notify = time.Time{}; return nil })
	if err != nil {
		t.Fatalf("NextNotice: %v", err)
	}
	return s.ID
}
