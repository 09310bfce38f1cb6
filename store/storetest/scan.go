package storetest

import (
	"fmt"
	"slices"
	"testing"
)

var scanCases = []testCase{
	{"a scan in pages of any size returns every session of every account once", func(t *testing.T, st *subject) {
		want := createScanned(t, st)
		for limit := 1; limit <= len(want)+1; limit++ {
			got := scan(t, st, limit)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("pages of %d: got %q, want %q", limit, got, want)
			}
		}
	}},
	{"a scan returns complete records", func(t *testing.T, st *subject) {
		want := full()
		create(t, st, want)
		list, err := st.Scan(t.Context(), "", 9)
		if err != nil || len(list) != 1 {
			t.Fatalf("got %d sessions and error %v, want 1", len(list), err)
		}
		wantSame(t, "Scan", list[0], want)
	}},
	{"a scan continues after a removed session", func(t *testing.T, st *subject) {
		createScanned(t, st)
		order := scan(t, st, 100)
		s, err := st.Scan(t.Context(), order[1], 1)
		if err != nil || len(s) != 1 || s[0].ID != order[2] {
			t.Fatalf("got %q and error %v, want %q", ids(s), err, order[2])
		}
		if err := st.Delete(t.Context(), s[0].Account, s[0].ID); err != nil {
			t.Fatal(err)
		}
		rest, err := st.Scan(t.Context(), order[2], 100)
		if got := ids(rest); err != nil || !slices.Equal(got, order[3:]) {
			t.Errorf("got %q and error %v, want %q", got, err, order[3:])
		}
	}},
	{"a limit below 1 gives an empty list", func(t *testing.T, st *subject) {
		createScanned(t, st)
		for _, limit := range []int{0, -1} {
			if list, err := st.Scan(t.Context(), "", limit); err != nil || len(list) != 0 {
				t.Errorf("limit %d: got %d sessions and error %v, want none", limit, len(list), err)
			}
		}
	}},
}

// createScanned creates sessions of two accounts, some of whose IDs are prefixes of
// others, and returns the IDs in order.
func createScanned(t *testing.T, st *subject) []string {
	t.Helper()
	want := []string{"s", "s\x01", "ss", "t", "\x01s", "z"}
	for i, id := range want {
		create(t, st, session(fmt.Sprint("account ", i%2), id, "u"))
	}
	slices.Sort(want)
	return want
}

// scan returns the IDs of all sessions, in the store's order.
func scan(t *testing.T, st *subject, limit int) []string {
	t.Helper()
	var got []string
	after := ""
	for len(got) < 1000 {
		list, err := st.Scan(t.Context(), after, limit)
		if err != nil || len(list) > limit {
			t.Fatalf("Scan: got %d sessions and error %v, want at most %d", len(list), err, limit)
		}
		got = append(got, ids(list)...)
		if len(list) < limit {
			if list, err := st.Scan(t.Context(), after, limit+1); len(list) > limit {
				t.Errorf("Scan: got %d sessions and error %v after a scan that returned fewer than its limit of %d", len(list), err, limit)
			}
			break
		}
		after = list[len(list)-1].ID
	}
	return got
}
