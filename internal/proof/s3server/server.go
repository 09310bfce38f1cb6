package s3server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/voicescreen/voicescreen/internal/proof/child"
)

// ErrNotInstalled says that there is no versitygw on this machine.
var ErrNotInstalled = errors.New("s3server: versitygw is not installed (go install github.com/versity/versitygw/cmd/versitygw@v1.8.0)")

// The credentials of the server.
const (
	AccessKey = "voicescreen"
	SecretKey = "voicescreen-secret"
)

// startTimeout is how long a start may take. Chosen: on a busy machine it takes a second.
const startTimeout = 60 * time.Second

// Server is an S3 server of a test, on a port of the loopback interface. Its methods are
// not safe for concurrent use.
type Server struct {
	// Addr is the host and port of the server. It stays the same after Restart.
	Addr string

	dir     string
	program string
	options []string
	cmd     *exec.Cmd // nil while it does not run
	output  *bytes.Buffer
	done    <-chan error // receives the end of cmd
}

// Start starts a server in a new directory. Options are global options of versitygw, such
// as "--cert". Stop removes the directory.
func Start(options ...string) (*Server, error) {
	program, err := find()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // a free port
	if err != nil {
		return nil, fmt.Errorf("s3server: %w", err)
	}
	s := &Server{Addr: l.Addr().String(), program: program, options: options}
	if err := l.Close(); err != nil {
		return nil, fmt.Errorf("s3server: %w", err)
	}
	if s.dir, err = os.MkdirTemp("", "s3"); err != nil {
		return nil, fmt.Errorf("s3server: %w", err)
	}
	for _, name := range []string{"objects", "metadata", "versions"} {
		err = errors.Join(err, os.Mkdir(filepath.Join(s.dir, name), 0o700))
	}
	if err == nil {
		err = s.Restart()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	return s, nil
}

// find returns the name of the program.
func find() (string, error) {
	if name := os.Getenv("VERSITYGW"); name != "" {
		return name, nil
	}
	if name, err := exec.LookPath("versitygw"); err == nil {
		return name, nil
	}
	home, _ := os.UserHomeDir() // "" names no program
	for _, dir := range []string{os.Getenv("GOBIN"), filepath.Join(os.Getenv("GOPATH"), "bin"), filepath.Join(home, "go", "bin")} {
		if name, err := exec.LookPath(filepath.Join(dir, "versitygw")); err == nil && filepath.IsAbs(name) {
			return name, nil
		}
	}
	return "", ErrNotInstalled
}

// Objects returns the directory of the buckets.
func (s *Server) Objects() string { return filepath.Join(s.dir, "objects") }

// Bucket makes a bucket if it is missing.
func (s *Server) Bucket(name string) error {
	return os.MkdirAll(filepath.Join(s.Objects(), name), 0o700)
}

// Restart starts the server after Kill, and waits until it accepts connections.
func (s *Server) Restart() error {
	s.output = &bytes.Buffer{}
	s.cmd = exec.Command(s.program, append(append([]string{"--port", s.Addr, "--access", AccessKey, "--secret", SecretKey, "--quiet", "--keep-alive"}, s.options...),
		"posix", "--sidecar", filepath.Join(s.dir, "metadata"), "--versioning-dir", filepath.Join(s.dir, "versions"), s.Objects())...)
	s.cmd.Stdout, s.cmd.Stderr = s.output, s.output
	var err error
	if s.done, err = child.Start(s.cmd, syscall.SIGKILL); err != nil {
		return fmt.Errorf("s3server: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.Addr)
		if err == nil {
			return c.Close()
		}
		select {
		case err := <-s.done:
			s.cmd = nil
			return fmt.Errorf("s3server: the server ended: %w: %s", err, s.output)
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("s3server: the server accepts no connection: %w", err), s.Kill())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Kill ends the server at once, as kill -9 does.
func (s *Server) Kill() error {
	if s.cmd == nil {
		return nil
	}
	err := s.cmd.Process.Kill()
	<-s.done
	s.cmd = nil
	return err
}

// Stop ends the server and removes its directory.
func (s *Server) Stop() error { return errors.Join(s.Kill(), os.RemoveAll(s.dir)) }
