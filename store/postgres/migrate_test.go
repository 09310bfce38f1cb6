package postgres_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/voicescreen/voicescreen/store/postgres"
)

// tables lists what the database holds of the store.
const tables = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'voicescreen'"

func TestReplicasMayStartTogether(t *testing.T) {
	t.Parallel()
	s := started(t)
	url := s.URL(create(t, s, ""))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			st, err := postgres.Open(t.Context(), url, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if err := st.Ping(t.Context()); err != nil {
				t.Error(err)
			}
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestAStepThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	s := started(t)
	for _, c := range []struct {
		name     string
		prepared bool // whether the tables are there before
		further  []string
		want     string // tables
	}{
		{"in a new database", false, []string{"CREATE TABLE voicescreen.more (n int)", "SELECT 1/0"}, "0"},
		{"in one that is used", true, []string{"CREATE TABLE voicescreen.more (n int)", "SELECT 1/0"}, "8"},
		{"in the middle of its file", true, []string{"CREATE TABLE voicescreen.more (n int); SELECT nonsense; CREATE TABLE voicescreen.third (n int)"}, "8"},
	} {
		name := create(t, s, "")
		if c.prepared {
			if err := postgres.Migrate(t.Context(), s.URL(name)); err != nil {
				t.Fatal(err)
			}
		}
		err := postgres.Migrate(t.Context(), s.URL(name), c.further...)
		if err == nil || !strings.Contains(err.Error(), "further step") {
			t.Errorf("%s: got error %v, want one that names the step", c.name, err)
		}
		if got, err := s.SQL(t.Context(), name, tables); got != c.want || err != nil {
			t.Errorf("%s: got %s tables and error %v, want %s", c.name, got, err, c.want)
		}
		if err := postgres.Migrate(t.Context(), s.URL(name), "CREATE TABLE voicescreen.more (n int)"); err != nil {
			t.Errorf("%s: the step that was repaired: %v", c.name, err)
		}
	}
}

func TestALaterVersionIsRefused(t *testing.T) {
	t.Parallel()
	s := started(t)
	url := s.URL(create(t, s, ""))
	if err := postgres.Migrate(t.Context(), url, "CREATE TABLE voicescreen.more (n int)"); err != nil {
		t.Fatal(err)
	}
	st, err := postgres.Open(t.Context(), url, nil)
	if err == nil {
		_ = st.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("got error %v, want one that names the version", err)
	}
}

func TestARoleThatMayOnlyUseTheTablesIsEnough(t *testing.T) {
	t.Parallel()
	s := started(t)
	name := create(t, s, "TEMPLATE template0")
	if err := postgres.Migrate(t.Context(), s.URL(name)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SQL(t.Context(), name, `
		CREATE ROLE service LOGIN;
		GRANT USAGE ON SCHEMA voicescreen TO service;
		GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA voicescreen TO service`); err != nil {
		t.Fatal(err)
	}
	st := open(t, strings.Replace(s.URL(name), "user=voicescreen", "user=service", 1), nil)
	defer st.Close()
	if err := st.Create(t.Context(), newSession("s")); err != nil {
		t.Error(err)
	}
	if err := st.Delete(t.Context(), "clinic", "s"); err != nil {
		t.Error(err)
	}
}

func TestWrongConnectionStringsAreRefused(t *testing.T) {
	t.Parallel()
	s := started(t)
	name := create(t, s, "TEMPLATE template0 ENCODING 'SQL_ASCII'")
	for _, c := range []struct{ url, want string }{
		{"postgres://user:secret@host:port/x", "cannot parse"},
		{s.URL("missing"), "does not exist"},
		{s.URL(name), "SQL_ASCII"},
		{database(t) + "&default_query_exec_mode=exec", "default_query_exec_mode"},
		{database(t) + "&options=-c%20synchronous_commit%3Doff", "synchronous_commit"},
	} {
		st, err := postgres.Open(t.Context(), c.url, nil)
		if err == nil {
			_ = st.Close()
			t.Errorf("%s: opened, want an error with %q", c.url, c.want)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("got error %v, want one with %q and without the password", err, c.want)
		}
	}
}
