package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// Migrate makes the tables with a further step, for tests.
func Migrate(ctx context.Context, url string, further ...string) error {
	all, err := migrations(migrationFiles)
	if err != nil {
		return err
	}
	for i, sql := range further {
		all = append(all, migration{fmt.Sprintf("further step %d", i+1), sql})
	}
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	return migrate(ctx, c, all)
}

// Statements are those that must find few rows in a large table, by name, with
// the number of their parameters.
var Statements = map[string]struct {
	SQL    string
	Params int
}{
	"get": {sqlGet, 2}, "lock": {sqlLock, 4}, "list": {sqlList, 5}, "scan": {sqlScan, 2}, "due": {sqlDue, 0}, "notices": {sqlNotices, 0},
	"next": {sqlLockDue, 4}, "next here": {sqlLockDueHere, 4}, "wait elsewhere": {sqlWaitElsewhere, 0}, "next notice": {sqlLockNotice, 5},
	"delete": {sqlDelete, 2}, "forget": {sqlForget, 2}, "expire": {sqlExpire, 4},
	"old audio": {sqlOldAudio, 5}, "remove audio": {sqlRemoveAudio, 1}, "release audio": {sqlReleaseAudio, 1}, "erased audio": {sqlErased, 2},
}

// Exec runs a statement on a connection of the store, for tests.
func (s *Store) Exec(ctx context.Context, sql string) error {
	_, err := s.pool.Exec(ctx, sql)
	return err
}

// Saw notes a time of the server's clock, for tests.
func (s *Store) Saw(t time.Time) { s.clock.saw(t) }

func TestWhatIsTriedAgain(t *testing.T) {
	answer := func(code string) error { return &pgconn.PgError{Code: code} }
	for _, c := range []struct {
		name     string
		err      error
		commits  bool // whether the statements held a commit
		again    bool // before a commit was sent, or after it where commits
		mayCount bool // whether it may have been committed
	}{
		{"a serialization failure", answer("40001"), true, true, false},
		{"a deadlock", answer("40P01"), true, true, false},
		{"a serialization failure before the commit", answer("40001"), false, true, false},
		{"an unknown outcome", answer("40003"), true, false, true},
		{"a lost connection", io.ErrUnexpectedEOF, false, true, false},
		{"a lost connection at the commit", io.ErrUnexpectedEOF, true, false, true},
		{"a server that ends", answer("57P01"), false, true, false},
		{"a server that ends at the commit", answer("57P01"), true, false, true},
		{"a crash at the commit", answer("57P02"), true, false, true},
		{"an idle transaction that was ended", answer("25P03"), true, false, false},
		{"a statement's time-out", answer("57014"), false, false, false},
		{"a lock's time-out", answer("55P03"), false, false, false},
		{"a full disk", answer("53100"), true, false, false},
		{"a caller that went away", fmt.Errorf("timeout: %w", context.Canceled), false, false, false},
		{"a caller that went away at the commit", fmt.Errorf("timeout: %w", context.Canceled), true, false, true},
	} {
		f := &fault{c.err, c.commits && lost(c.err)}
		if f.passes() != c.again || f.unsure != c.mayCount {
			t.Errorf("%s: got tried again %v, may have been made %v, want %v and %v", c.name, f.passes(), f.unsure, c.again, c.mayCount)
		}
	}
}

// What passes is store.ErrUnavailable; a fault of the program, of the operator or of
// the caller is not.
func TestWhatPassesIsErrUnavailable(t *testing.T) {
	answer := func(code string) error { return &pgconn.PgError{Code: code} }
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"a server that ends":         {answer("57P01"), true},
		"too many connections":       {answer("53300"), true},
		"a standby":                  {answer("25006"), true},
		"a lock's time-out":          {answer("55P03"), true},
		"a pooler without a server":  {answer("08P01"), true},
		"a lost connection":          {fmt.Errorf("read: %w", io.ErrUnexpectedEOF), true},
		"no connection":              {&net.OpError{Op: "dial", Err: errors.New("refused")}, true},
		"the store's time-out":       {fmt.Errorf("timeout: %w", context.DeadlineExceeded), true},
		"a wrong password":           {answer("28P01"), false},
		"a missing table":            {answer("42P01"), false},
		"a constraint":               {answer("23503"), false},
		"a full disk":                {answer("53100"), false},
		"a value that does not scan": {errors.New("cannot scan"), false},
		"a caller that went away":    {fmt.Errorf("timeout: %w", context.Canceled), false},
	} {
		err := (&Store{}).explain(t.Context(), "get a session", &fault{err: c.err})
		if got := errors.Is(err, store.ErrUnavailable); got != c.want {
			t.Errorf("%s: got %v, want available later: %v", name, err, c.want)
		}
	}
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if err := (&Store{}).explain(late, "get a session", &fault{err: context.DeadlineExceeded}); errors.Is(err, store.ErrUnavailable) {
		t.Errorf("the caller's time-out: got %v, want it as it is", err)
	}
}

func TestAFullDiskIsErrFull(t *testing.T) {
	for code, full := range map[string]bool{"53100": true, "53200": false, "40001": false} {
		err := (&Store{}).explain(t.Context(), "put audio", &fault{err: &pgconn.PgError{Code: code}})
		if got := store.IsFull(err); got != full {
			t.Errorf("code %s: got full %v, want %v", code, got, full)
		}
	}
}

func TestServersThatLoseDataAreRefused(t *testing.T) {
	if err := usable(150000, "UTF8", "on", "on"); err != nil {
		t.Errorf("got error %v, want none", err)
	}
	for name, err := range map[string]error{
		"an old version":         usable(130099, "UTF8", "on", "on"),
		"another encoding":       usable(150000, "SQL_ASCII", "on", "on"),
		"fsync off":              usable(150000, "UTF8", "off", "on"),
		"synchronous_commit off": usable(150000, "UTF8", "on", "off"),
	} {
		if !errors.Is(err, ErrServer) {
			t.Errorf("%s: got error %v, want %v", name, err, ErrServer)
		}
	}
}

func TestMigrationsAreNumbered(t *testing.T) {
	file := &fstest.MapFile{Data: []byte("SELECT 1")}
	for name, files := range map[string]fstest.MapFS{
		"a gap":       {"migrations/0001_a.sql": file, "migrations/0003_c.sql": file},
		"two of one":  {"migrations/0001_a.sql": file, "migrations/0001_b.sql": file},
		"no number":   {"migrations/a.sql": file},
		"not the 1st": {"migrations/0002_a.sql": file},
	} {
		if all, err := migrations(files); err == nil {
			t.Errorf("%s: got %v, want an error", name, all)
		}
	}
}

func TestKeysOfNotificationsAreReadAsTheyAreWritten(t *testing.T) {
	for _, key := range []screen.SessionKey{{}, {Account: "a", ID: "s"}, {ID: "s"}, {Account: "1 é", ID: "2 \n"}} {
		if got := keyOf(payload(key)); got != key {
			t.Errorf("got %q, want %q", got, key)
		}
	}
	for _, wrong := range []string{"", "x", "5 ab", "-1 ab", "9999999999999999999 a"} {
		if got := keyOf(wrong); got != (screen.SessionKey{}) {
			t.Errorf("%q: got %q, want the key of any session", wrong, got)
		}
	}
}

func TestTooManyHintsStandForAll(t *testing.T) {
	h := hints{keys: map[screen.SessionKey]bool{}, some: make(chan struct{}, 1)}
	for i := range maxHints + 10 {
		h.add(screen.SessionKey{ID: fmt.Sprint(i)})
	}
	if got := h.take(); len(got) != 1 || keyOf(got[0]) != (screen.SessionKey{}) {
		t.Errorf("got %d hints, want one for all sessions", len(got))
	}
	h.add(screen.SessionKey{ID: "s"}, screen.SessionKey{ID: "s"})
	if got := h.take(); len(got) != 1 || keyOf(got[0]).ID != "s" {
		t.Errorf("got %q, want one hint", got)
	}
}

func TestASearchBeginsWhereNothingIsDueBefore(t *testing.T) {
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var q queue
	if p := q.begin(); p != beginning {
		t.Errorf("the first search: got %v, want the beginning", p)
	}
	q.took(begin, q.begin())
	if got, want := q.begin().from, begin.Add(-slack); !got.Equal(want) {
		t.Errorf("after one was taken: got %v, want %v", got, want)
	}
	under := q.begin()
	q.lower(begin.Add(-time.Hour))
	q.took(begin, under) // a search that did not see it
	if got, want := q.begin().from, begin.Add(-time.Hour); !got.Equal(want) {
		t.Errorf("after one was put before: got %v, want %v", got, want)
	}
	q.full = time.Now().Add(-fullEvery - time.Second)
	if p := q.begin(); p.from != beginning.from {
		t.Errorf("a second later: got %v, want the beginning", p.from)
	}
	if p := q.begin(); p.from == beginning.from {
		t.Error("the search behind it begins at the beginning too")
	}
}
