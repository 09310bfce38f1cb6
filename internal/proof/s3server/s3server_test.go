package s3server_test

import (
	"errors"
	"net"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/voicescreen/voicescreen/internal/proof/s3server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestServerComesBackAfterAKill(t *testing.T) {
	s, err := s3server.Start()
	if errors.Is(err, s3server.ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Bucket("b"), s.Kill()); err != nil {
		t.Fatal(err)
	}
	if c, err := net.Dial("tcp", s.Addr); err == nil {
		_ = c.Close()
		t.Error("the killed server accepts connections")
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.Objects()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Stop: got %v for its directory, want none", err)
	}
}
