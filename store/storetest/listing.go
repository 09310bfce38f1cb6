package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/store"
)

var listingCases = []testCase{
	{"a listing is ordered from newest to oldest, then by ID", func(t *testing.T, st *subject) {
		want := createListing(t, st)
		list, err := st.List(t.Context(), "a", "u", nil, 1000)
		if got := ids(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v and error %v, want %v", got, err, want)
		}
	}},
	{"sessions that are created at one time are listed in the order of creation", func(t *testing.T, st *subject) {
		var want []string
		for i := range 20 {
			s := session("a", numbered(7*i%20), "u") // not in the order of IDs
			s.CreatedAt, s.UpdatedAt = time.Time{}, time.Time{}
			create(t, st, s)
			want = slices.Insert(want, 0, s.ID)
			if s := get(t, st, "a", s.ID); s.CreatedAt.Sub(st.clock.now()).Abs() > time.Millisecond || !s.UpdatedAt.Equal(s.CreatedAt) {
				t.Errorf("session %d: got created %v and updated %v, want the store's time, %v", i, s.CreatedAt, s.UpdatedAt, st.clock.now())
			}
		}
		list, err := st.List(t.Context(), "a", "u", nil, 1000)
		if got := ids(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v and error %v, want %v", got, err, want)
		}
	}},
	{"pages of any size make up the listing", func(t *testing.T, st *subject) {
		want := createListing(t, st)
		for limit := 1; limit <= len(want)+1; limit++ {
			var got []string
			var after *store.Cursor
			for len(got) <= len(want) {
				list, err := st.List(t.Context(), "a", "u", after, limit)
				if err != nil || len(list) > limit {
					t.Fatalf("List: got %d sessions and error %v, want at most %d", len(list), err, limit)
				}
				if len(list) == 0 {
					break
				}
				got = append(got, ids(list)...)
				cursor := list[len(list)-1].Cursor()
				after = &cursor
			}
			if !slices.Equal(got, want) {
				t.Errorf("pages of %d: got %v, want %v", limit, got, want)
			}
		}
	}},
	{"a listing contains complete records", func(t *testing.T, st *subject) {
		want := full()
		create(t, st, want)
		list, err := st.List(t.Context(), want.Account, want.UserID, nil, 9)
		if err != nil || len(list) != 1 {
			t.Fatalf("got %d sessions and error %v, want 1", len(list), err)
		}
		wantSame(t, "List", list[0], want)
	}},
	{"a cursor's session need not exist", func(t *testing.T, st *subject) {
		want := createListing(t, st)
		cursor := get(t, st, "a", want[3]).Cursor()
		if err := st.Delete(t.Context(), "a", want[3]); err != nil {
			t.Fatal(err)
		}
		wantAfter(t, st, cursor, want[4:])
		wantAfter(t, st, store.Cursor{CreatedAt: epoch.AddDate(500, 0, 0), ID: "zzz"}, slices.Delete(want, 3, 4))
		wantAfter(t, st, store.Cursor{CreatedAt: epoch.AddDate(-500, 0, 0)}, nil)
	}},
	{"a page does not change when newer sessions are created", func(t *testing.T, st *subject) {
		want := createListing(t, st)
		cursor := get(t, st, "a", want[2]).Cursor()
		s := session("a", "newer", "u")
		s.CreatedAt = at(1_000_000)
		create(t, st, s)
		wantAfter(t, st, cursor, want[3:])
	}},
	{"only the user's sessions of the account are listed", func(t *testing.T, st *subject) {
		want := createListing(t, st)
		create(t, st, session("b", "x1", "u"), session("a", "x2", "v"), session("", "x3", "u"), session("a", "x4", ""))
		list, err := st.List(t.Context(), "a", "u", nil, 1000)
		if got := ids(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v and error %v, want %v", got, err, want)
		}
	}},
	{"a user without sessions has an empty list", func(t *testing.T, st *subject) {
		createListing(t, st)
		for _, user := range [][2]string{{"a", "v"}, {"b", "u"}, {"a", ""}, {"", ""}} {
			if list, err := st.List(t.Context(), user[0], user[1], nil, 10); len(list) != 0 || err != nil {
				t.Errorf("user %q: got %v and error %v, want none", user, ids(list), err)
			}
		}
	}},
	{"a limit below 1 gives an empty list", func(t *testing.T, st *subject) {
		createListing(t, st)
		for _, limit := range []int{0, -1, -1 << 62} {
			if list, err := st.List(t.Context(), "a", "u", nil, limit); len(list) != 0 || err != nil {
				t.Errorf("limit %d: got %v and error %v, want none", limit, ids(list), err)
			}
		}
	}},
	{"an update does not move a session in the listing", func(t *testing.T, st *subject) {
		want := createListing(t, st)
		setDue(t, st, want[4], at(1))
		list, err := st.List(t.Context(), "a", "u", nil, 1000)
		if got := ids(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v and error %v, want %v", got, err, want)
		}
	}},
}

// createListing creates sessions of user u of account a, in another order than that of
// a listing, and returns their IDs in the order of a listing.
func createListing(t *testing.T, st *subject) []string {
	t.Helper()
	var want []string
	for i, created := range []time.Time{
		at(100), at(1), epoch.Add(time.Microsecond), epoch, epoch.Add(-time.Microsecond), time.Unix(0, 0), // from the newest to the oldest, one of 1970
	} {
		for _, tie := range []string{"A", "AA", "B", "a\x01"} {
			want = append(want, fmt.Sprint(9-i, tie)) // so that the order of IDs alone would be another
			s := session("a", want[len(want)-1], "u")
			s.CreatedAt = created
			defer create(t, st, s) // the last one first
		}
	}
	return want
}

func wantAfter(t *testing.T, st *subject, cursor store.Cursor, want []string) {
	t.Helper()
	list, err := st.List(t.Context(), "a", "u", &cursor, 1000)
	if got := ids(list); err != nil || !slices.Equal(got, want) {
		t.Errorf("after %v: got %v and error %v, want %v", cursor, got, err, want)
	}
}
