package pgserver_test

import (
	"errors"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/voicescreen/voicescreen/internal/proof/pgserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestACommitOutlivesAKill kills a server in memory, and also looks at it as another process
// does.
func TestACommitOutlivesAKill(t *testing.T) {
	s, err := pgserver.StartInMemory()
	if errors.Is(err, pgserver.ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := func(statement, want string) {
		t.Helper()
		if out, err := s.SQL(t.Context(), "postgres", statement); err != nil || out != want {
			t.Errorf("%s: got %q and error %v, want %q", statement, out, err, want)
		}
	}
	want("SHOW fsync", "on") // the store refuses another server
	want("CREATE TABLE t AS SELECT 7 AS x", "")
	s.Kill()
	if out, err := s.SQL(t.Context(), "postgres", "SELECT x FROM t"); err == nil {
		t.Errorf("the killed server answers %q", out)
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	want("SELECT x FROM t", "7")
	other, err := pgserver.At(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := other.SQL(t.Context(), "postgres", "SELECT x FROM t"); err != nil || out != "7" || other.URL("t") != s.URL("t") {
		t.Errorf("by its directory: got %q, address %s and error %v, want 7 and %s", out, other.URL("t"), err, s.URL("t"))
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Stop: got %v for its directory, want none", err)
	}
}
