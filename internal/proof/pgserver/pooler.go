package pgserver

import (
	"bytes"
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

// ErrNoPooler says that there is no pgbouncer on this machine.
var ErrNoPooler = errors.New("pgserver: pgbouncer is not installed (on Debian: apt-get install pgbouncer)")

// Pooler is a pgbouncer in transaction mode in front of a Server. It is safe for
// concurrent use.
type Pooler struct {
	dir  string // of its socket
	cmd  *exec.Cmd
	done <-chan error // the end of cmd
}

// StartPooler starts a pgbouncer, which shares a few connections to each
// database. Stop ends it.
func (s *Server) StartPooler() (*Pooler, error) {
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/pgbouncer") // not in the PATH of every user
	}
	if err != nil {
		return nil, ErrNoPooler
	}
	p := &Pooler{dir: filepath.Join(s.Dir, "pooler")}
	if err := p.configure(s.Dir); err != nil {
		return nil, fmt.Errorf("pgserver: %w", err)
	}
	p.cmd = exec.Command(program, "--quiet", filepath.Join(p.dir, "pgbouncer.ini"))
	p.cmd.Dir = p.dir
	var log bytes.Buffer
	p.cmd.Stdout, p.cmd.Stderr = &log, &log
	if err := asOwner(p.cmd); err != nil {
		return nil, fmt.Errorf("pgserver: %w", err)
	}
	if p.done, err = child.Start(p.cmd, syscall.SIGQUIT); err != nil {
		return nil, fmt.Errorf("pgserver: %w", err)
	}
	for deadline := time.Now().Add(startTimeout); ; {
		if c, err := net.Dial("unix", filepath.Join(p.dir, ".s.PGSQL.5432")); err == nil {
			return p, c.Close()
		}
		select {
		case err := <-p.done:
			return nil, fmt.Errorf("pgserver: pgbouncer ended: %v\n%s", err, log.String())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			p.Stop()
			return nil, fmt.Errorf("pgserver: pgbouncer did not start within %v", startTimeout)
		}
	}
}

// configure writes its files.
func (p *Pooler) configure(server string) error {
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		return err
	}
	users := fmt.Sprintf("%q \"\"\n", Superuser)
	if err := os.WriteFile(filepath.Join(p.dir, "users.txt"), []byte(users), 0o644); err != nil {
		return err
	}
	settings := fmt.Sprintf(`[databases]
* = host=%s
[pgbouncer]
listen_addr =
listen_port = 5432
unix_socket_dir = %s
auth_type = trust
auth_file = %s
pool_mode = transaction
default_pool_size = 4
max_client_conn = 500
`, server, p.dir, filepath.Join(p.dir, "users.txt"))
	if err := os.WriteFile(filepath.Join(p.dir, "pgbouncer.ini"), []byte(settings), 0o644); err != nil {
		return err
	}
	return own(p.dir)
}

// URL returns the connection string of a database.
func (p *Pooler) URL(database string) string { return url(database, p.dir) }

// Stop ends it.
func (p *Pooler) Stop() {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.done
}
