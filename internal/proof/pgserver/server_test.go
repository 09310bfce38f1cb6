package pgserver_test

import (
	"errors"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/pgserver"
)

func TestACommitOutlivesAKill(t *testing.T) {
	s, err := pgserver.Start("log_statement=none")
	if errors.Is(err, pgserver.ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := s.SQL(t.Context(), "postgres", "CREATE TABLE t (n int); INSERT INTO t VALUES (42);"); err != nil {
		t.Fatal(err)
	}
	s.Kill()
	if out, err := s.SQL(t.Context(), "postgres", "SELECT n FROM t"); err == nil {
		t.Errorf("got %q from a server that was killed", out)
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	if out, err := s.SQL(t.Context(), "postgres", "SELECT n FROM t"); out != "42" || err != nil {
		t.Errorf("got %q and error %v, want 42", out, err)
	}
}
