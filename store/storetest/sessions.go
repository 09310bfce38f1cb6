package storetest

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

var sessionCases = []testCase{
	{"a created session can be read", func(t *testing.T, st *subject) {
		s := session("a", "s", "u")
		create(t, st, s)
		wantSame(t, "Get", get(t, st, "a", "s"), s)
	}},
	{"an unknown ID is not found", func(t *testing.T, st *subject) {
		create(t, st, session("a", "s", "u"))
		for _, id := range []string{"", "t", "s ", "s\x00", "\xff", strings.Repeat("s", 100_000)} {
			_, err := st.Get(t.Context(), "a", id)
			wantErr(t, "Get", err, store.ErrNotFound)
		}
	}},
	{"a session of another account is not found", func(t *testing.T, st *subject) {
		create(t, st, session("a", "s", "u"))
		for _, account := range []string{"", "b", "a\x00", "as", "A"} {
			_, err := st.Get(t.Context(), account, "s")
			wantErr(t, "Get", err, store.ErrNotFound)
		}
	}},
	{"an ID can be taken once", func(t *testing.T, st *subject) {
		create(t, st, session("a", "s", "u"))
		wantErr(t, "Create", st.Create(t.Context(), session("a", "s", "v")), store.ErrExists)
		if got := get(t, st, "a", "s").UserID; got != "u" {
			t.Errorf("got user %q after a second Create, want the first", got)
		}
	}},
	{"an ID is taken in all accounts", func(t *testing.T, st *subject) {
		create(t, st, session("a", "s", "u"))
		wantErr(t, "Create", st.Create(t.Context(), session("b", "s", "u")), store.ErrExists)
		_, err := st.Get(t.Context(), "b", "s")
		wantErr(t, "Get", err, store.ErrNotFound)
	}},
	{"an ID may be a prefix of another", func(t *testing.T, st *subject) {
		names := []string{"s", "ss", "s\x01", "sss", "\x01", strings.Repeat("s", screen.MaxID)}
		for _, id := range names {
			create(t, st, session("a", id, "u"))
		}
		for _, id := range names {
			get(t, st, "a", id)
		}
	}},
	{"accounts and users may be any text", anyText},
	{"every field comes back as it was stored", func(t *testing.T, st *subject) {
		s := full()
		create(t, st, s)
		wantSame(t, "Get", get(t, st, s.Account, s.ID), s)
	}},
	{"empty slices and maps come back nil", func(t *testing.T, st *subject) {
		s := session("a", "s", "u")
		s.Features = map[string]float64{}
		s.Labels.PHQ9 = []int{}
		create(t, st, s)
		wantSame(t, "Get", get(t, st, "a", "s"), s)
	}},
	{"undefined numbers come back as NaN", func(t *testing.T, st *subject) {
		s := session("a", "s", "u")
		s.Scores = []screen.Score{{
			Low: math.NaN(), High: math.NaN(), Segments: []screen.Segment{{Probability: math.NaN()}},
			Contributions: []screen.Contribution{{Value: math.NaN()}},
		}}
		create(t, st, s)
		wantSame(t, "Get", get(t, st, "a", "s"), s)
	}},
	{"the earliest and latest times come back", func(t *testing.T, st *subject) {
		s := session("a", "s", "u")
		s.CreatedAt = time.Unix(0, 0)
		s.UpdatedAt = time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)
		s.SubmittedAt = time.UnixMicro(1)
		create(t, st, s)
		wantSame(t, "Get", get(t, st, "a", "s"), s)
	}},
	{"records are copied when they are stored", func(t *testing.T, st *subject) {
		s := full()
		want := s.Clone()
		create(t, st, s)
		overwriteSession(s)
		wantSame(t, "Get", get(t, st, want.Account, want.ID), want)
	}},
	{"records are copied when they are returned", func(t *testing.T, st *subject) {
		want := full()
		create(t, st, want)
		overwriteSession(get(t, st, want.Account, want.ID))
		list, err := st.List(t.Context(), want.Account, want.UserID, nil, 1)
		if err != nil || len(list) != 1 {
			t.Fatalf("List: got %d sessions and error %v, want 1", len(list), err)
		}
		overwriteSession(list[0])
		wantSame(t, "Get", get(t, st, want.Account, want.ID), want)
	}},
	{"invalid records are refused", refused},
}

// anyText creates sessions of accounts and users that an ambiguous key would confuse.
func anyText(t *testing.T, st *subject) {
	long := strings.Repeat("l", screen.MaxAccount-1)
	names := []string{"", "a", "ab", "b", "a\x01", "\x01a", "\x01", "\x01\x01", "a/b", "/", "A", "a ", "é", "e\u0301", long, long + "x"}
	owner := map[string][2]string{}
	for i, account := range names {
		for j, user := range names {
			id := numbered(i*len(names) + j)
			owner[id] = [2]string{account, user}
			create(t, st, session(account, id, user))
		}
	}
	for id, o := range owner {
		if s := get(t, st, o[0], id); s.Account != o[0] || s.UserID != o[1] {
			t.Errorf("got account %.9q, user %.9q, want %.9q, %.9q", s.Account, s.UserID, o[0], o[1])
		}
		list, err := st.List(t.Context(), o[0], o[1], nil, 10)
		if got := ids(list); err != nil || len(got) != 1 || got[0] != id {
			t.Errorf("List of account %.9q, user %.9q: got %v and error %v, want %q alone", o[0], o[1], got, err, id)
		}
	}
}

func refused(t *testing.T, st *subject) {
	for name, invalidate := range map[string]func(*store.Session){
		"no ID":           func(s *store.Session) { s.ID = "" },
		"too long an ID":  func(s *store.Session) { s.ID = strings.Repeat("s", screen.MaxID+1) },
		"no state":        func(s *store.Session) { s.Status = 0 },
		"unknown state":   func(s *store.Session) { s.Status = 99 },
		"unknown product": func(s *store.Session) { s.Product = 99 },
		"a time too late": func(s *store.Session) { s.Due = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC) },

		"a time too early":           func(s *store.Session) { s.Due = time.Unix(0, -1000) },
		"an account with NUL":        func(s *store.Session) { s.Account = "a\x00" },
		"a user that is not UTF-8":   func(s *store.Session) { s.UserID = "\xff" },
		"too long an account":        func(s *store.Session) { s.Account = strings.Repeat("a", screen.MaxAccount+1) },
		"too long a user":            func(s *store.Session) { s.UserID = strings.Repeat("u", screen.MaxUserID+1) },
		"too long an owner":          func(s *store.Session) { s.Owner = strings.Repeat("o", screen.MaxName+1) },
		"too long a failure message": func(s *store.Session) { s.Failure = &screen.Failure{Message: strings.Repeat("m", screen.MaxMessage+1)} },
		"a ZIP code with NUL":        func(s *store.Session) { s.Metadata.Zipcode = "\x00" },
		"too large a token":          func(s *store.Session) { s.Token = math.MaxInt64 + 1 },
		"a negative count":           func(s *store.Session) { s.Attempts = -1 },
		"an undefined feature":       func(s *store.Session) { s.Features = map[string]float64{"f": math.NaN()} },
		"an infinite probability":    func(s *store.Session) { s.Scores = []screen.Score{{Probability: math.Inf(1)}} },
		"an unknown severity":        func(s *store.Session) { s.Scores = []screen.Score{{Severity: 99}} },
		"too many scores":            func(s *store.Session) { s.Scores = make([]screen.Score, screen.MaxScores+1) },
	} {
		s := session("a", "s", "u")
		invalidate(s)
		wantErr(t, "Create with "+name, st.Create(t.Context(), s), store.ErrInvalid)
		_, err := st.Get(t.Context(), "a", s.ID)
		wantErr(t, "Get after Create with "+name, err, store.ErrNotFound)
	}
	if n, err := st.Due(t.Context()); n != 0 || err != nil {
		t.Errorf("Due: got %d and error %v, want 0", n, err)
	}
}
