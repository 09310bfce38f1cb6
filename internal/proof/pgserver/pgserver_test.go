package pgserver_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/voicescreen/voicescreen/internal/proof/pgserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestServerComesBackAfterAKill(t *testing.T) {
	s, err := pgserver.Start()
	if errors.Is(err, pgserver.ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.SQL(t.Context(), "postgres", "CREATE TABLE t AS SELECT 7 AS x"); err != nil {
		t.Fatal(err)
	}
	s.Kill()
	if out, err := s.SQL(t.Context(), "postgres", "SELECT x FROM t"); err == nil {
		t.Errorf("the killed server answers %q", out)
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	if out, err := s.SQL(t.Context(), "postgres", "SELECT x FROM t"); err != nil || !strings.Contains(out, "7") {
		t.Errorf("after the restart: got %q and error %v, want 7", out, err)
	}
	s.Stop()
	if _, err := os.Stat(s.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Stop: got %v for its directory, want none", err)
	}
}
