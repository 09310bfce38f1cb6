package storetest

import (
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/store"
)

var removalCases = []testCase{
	{"a deleted session is not found", func(t *testing.T, st *subject) {
		create(t, st, session("a", "s", "u"), session("a", "t", "u"))
		if err := st.Delete(t.Context(), "a", "s"); err != nil {
			t.Fatal(err)
		}
		_, err := st.Get(t.Context(), "a", "s")
		wantErr(t, "Get", err, store.ErrNotFound)
		_, err = st.Update(t.Context(), "a", "s", never(t))
		wantErr(t, "Update", err, store.ErrNotFound)
		wantErr(t, "Delete", st.Delete(t.Context(), "a", "s"), store.ErrNotFound)
		if list, err := st.List(t.Context(), "a", "u", nil, 9); err != nil || len(list) != 1 || list[0].ID != "t" {
			t.Errorf("List: got %v and error %v, want t alone", ids(list), err)
		}
	}},
	{"the ID of a deleted session may be taken again", func(t *testing.T, st *subject) {
		create(t, st, queued("a", "s", at(1)))
		if err := st.Delete(t.Context(), "a", "s"); err != nil {
			t.Fatal(err)
		}
		s := session("b", "s", "v")
		create(t, st, s)
		wantSame(t, "Get", get(t, st, "b", "s"), s)
		wantDue(t, st, 0)
	}},
	{"a session of another account cannot be deleted", func(t *testing.T, st *subject) {
		create(t, st, session("a", "s", "u"))
		for _, key := range [][2]string{{"b", "s"}, {"", "s"}, {"a", "t"}, {"a", ""}} {
			wantErr(t, "Delete", st.Delete(t.Context(), key[0], key[1]), store.ErrNotFound)
		}
		get(t, st, "a", "s")
	}},
	{"Forget removes every session of the user, and only of that user", func(t *testing.T, st *subject) {
		want := createListing(t, st)
		create(t, st, session("b", "x1", "u"), session("a", "x2", "v"), session("", "x3", "u"), session("a", "x4", ""))
		if n, err := st.Forget(t.Context(), "a", "u"); n != len(want) || err != nil {
			t.Errorf("Forget: got %d and error %v, want %d", n, err, len(want))
		}
		for _, id := range want {
			_, err := st.Get(t.Context(), "a", id)
			wantErr(t, "Get", err, store.ErrNotFound)
		}
		if list, err := st.List(t.Context(), "a", "u", nil, 9); len(list) != 0 || err != nil {
			t.Errorf("List: got %v and error %v, want none", ids(list), err)
		}
		get(t, st, "b", "x1")
		get(t, st, "a", "x2")
		get(t, st, "", "x3")
		get(t, st, "a", "x4")
	}},
	{"Forget of a user without sessions returns 0", func(t *testing.T, st *subject) {
		create(t, st, session("a", "s", "u"))
		for _, user := range [][2]string{{"a", "v"}, {"b", "u"}, {"", ""}} {
			if n, err := st.Forget(t.Context(), user[0], user[1]); n != 0 || err != nil {
				t.Errorf("user %q: got %d and error %v, want 0", user, n, err)
			}
		}
		get(t, st, "a", "s")
	}},
	{"a session removed during updates stays removed", func(t *testing.T, st *subject) {
		for i := range 4 {
			create(t, st, queued("a", numbered(i), at(1)))
		}
		race(racers, func(i int) {
			id := numbered(i % 4)
			if i%3 == 0 {
				if err := st.Delete(t.Context(), "a", id); err != nil {
					wantErr(t, "Delete", err, store.ErrNotFound)
				}
				return
			}
			if _, err := st.Update(t.Context(), "a", id, func(s *store.Session, _ time.Time) error { s.Due = at(i); return nil }); err != nil {
				wantErr(t, "Update", err, store.ErrNotFound)
			}
		})
		for i := range 4 {
			_, err := st.Get(t.Context(), "a", numbered(i))
			wantErr(t, "Get", err, store.ErrNotFound)
		}
		wantDue(t, st, 0)
	}},
}
