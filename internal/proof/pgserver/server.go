package pgserver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/voicescreen/voicescreen/internal/proof/child"
	"github.com/voicescreen/voicescreen/internal/proof/ramdisk"
)

// ErrNotInstalled says that there is no PostgreSQL on this machine.
var ErrNotInstalled = errors.New("pgserver: PostgreSQL is not installed (on Debian: apt-get install postgresql)")

// startTimeout is how long a start may take. Chosen: a recovery after a kill
// under load takes a few seconds on a busy machine.
const startTimeout = 60 * time.Second

// Server is a PostgreSQL server of a test. It listens on a socket in Dir and
// nowhere else. Its methods are not safe for concurrent use, but for SQL and URL.
type Server struct {
	// Dir holds the socket and everything else that the server writes.
	Dir string

	programs string // the directory of its programs
	settings []string

	mu     sync.Mutex   // protects what follows
	server *exec.Cmd    // nil while it is down
	done   <-chan error // the end of server
}

// Superuser is the name of the user of all databases, who needs no password.
const Superuser = "voicescreen"

// Start makes a database cluster in a new directory and starts its server, with
// the given settings beside those of tests, such as "max_connections=20". Stop
// removes it all.
func Start(settings ...string) (*Server, error) { return start(os.TempDir(), settings) }

// StartInMemory is Start for tests of anything but durability: the cluster is in memory if
// there is room (see [ramdisk.Dir]), so that commits do not wait for a disk.
func StartInMemory(settings ...string) (*Server, error) {
	return start(cmp.Or(ramdisk.Dir(), os.TempDir()), append([]string{"max_wal_size=128MB"}, settings...))
}

func start(where string, settings []string) (*Server, error) {
	programs, err := find()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(where, "pg") // short: a socket's path has at most 107 bytes
	if err != nil {
		return nil, fmt.Errorf("pgserver: %w", err)
	}
	s := &Server{Dir: dir, programs: programs, settings: settings}
	if err := s.initialize(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.Restart(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// At returns the server that another process started in dir, for SQL and URL only.
func At(dir string) (*Server, error) {
	programs, err := find()
	if err != nil {
		return nil, err
	}
	return &Server{Dir: dir, programs: programs}, nil
}

// find returns the directory of the programs, of the newest version.
func find() (string, error) {
	versions, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil {
		return "", fmt.Errorf("pgserver: %w", err)
	}
	slices.SortFunc(versions, func(a, b string) int { // "9.6" before "15"
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
	if len(versions) > 0 {
		return filepath.Dir(versions[len(versions)-1]), nil
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", ErrNotInstalled
}

// initialize makes the cluster.
func (s *Server) initialize() error {
	if err := own(s.Dir); err != nil {
		return fmt.Errorf("pgserver: %w", err)
	}
	cmd := exec.Command(filepath.Join(s.programs, "initdb"),
		"--pgdata", s.data(), "--username", Superuser, "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync")
	cmd.Dir = s.Dir
	if err := asOwner(cmd); err != nil {
		return fmt.Errorf("pgserver: %w", err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pgserver: initdb: %w\n%s", err, out)
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.Dir, "data") }

// Restart starts the server, which must be down, and waits until it answers.
func (s *Server) Restart() error {
	args := []string{"-D", s.data(), "-k", s.Dir}
	settings := append([]string{"listen_addresses=", "fsync=on", "shared_buffers=32MB", "max_connections=100"}, s.settings...)
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	cmd := exec.Command(filepath.Join(s.programs, "postgres"), args...)
	cmd.Dir = s.Dir
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := asOwner(cmd); err != nil {
		return fmt.Errorf("pgserver: %w", err)
	}
	done, err := child.Start(cmd, syscall.SIGQUIT) // which asks for an immediate shutdown
	if err != nil {
		return fmt.Errorf("pgserver: %w", err)
	}
	for deadline := time.Now().Add(startTimeout); ; {
		select {
		case err := <-done:
			return fmt.Errorf("pgserver: the server ended: %w\n%s", err, log.String())
		case <-time.After(20 * time.Millisecond):
		}
		if s.answers() {
			break
		}
		if time.Now().After(deadline) {
			_ = cmd.Process.Kill()
			<-done
			return fmt.Errorf("pgserver: the server did not start within %v\n%s", startTimeout, log.String())
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.server, s.done = cmd, done
	return nil
}

// answers says whether the server takes connections.
func (s *Server) answers() bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return exec.CommandContext(ctx, filepath.Join(s.programs, "pg_isready"), "--quiet", "--host", s.Dir).Run() == nil
}

// Kill kills the server with SIGKILL and waits for its end. Its children end
// too; what was committed is recovered by Restart.
func (s *Server) Kill() { s.end(os.Kill) }

// Stop ends the server and removes its directory.
func (s *Server) Stop() error {
	s.end(os.Interrupt) // does not wait for clients
	return os.RemoveAll(s.Dir)
}

// end sends a signal to the server and waits for its end.
func (s *Server) end(signal os.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil {
		return
	}
	_ = s.server.Process.Signal(signal) // it may have ended by itself
	<-s.done
	s.server = nil
}

// URL returns the connection string of a database.
func (s *Server) URL(database string) string { return url(database, s.Dir) }

func url(database, dir string) string {
	return fmt.Sprintf("postgres:///%s?host=%s&user=%s", database, dir, Superuser)
}

// Socket returns the path of the server's socket, for tests that stand between
// it and a client.
func (s *Server) Socket() string { return filepath.Join(s.Dir, ".s.PGSQL.5432") }

// SQL runs statements in a database with psql and returns the output.
func (s *Server) SQL(ctx context.Context, database, statements string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(s.programs, "psql"),
		"--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set", "ON_ERROR_STOP=1", "--host", s.Dir, "--username", Superuser, "--dbname", database)
	cmd.Stdin = strings.NewReader(statements)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("pgserver: psql: %w\n%s", err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
