package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// ErrServer says that a server cannot be used: its settings would lose what was
// acknowledged, or cannot hold all texts, or it is too old.
var ErrServer = errors.New("store/postgres: unusable server")

// Options are the options of Open. Nil and zero fields mean the default.
type Options struct {
	// StatementTimeout is the longest that the server works at one statement.
	// Default: 15 seconds.
	StatementTimeout time.Duration

	// LockTimeout is the longest that a statement waits for a row that another
	// transaction holds. Default: 10 seconds.
	LockTimeout time.Duration

	// IdleTimeout is how long the server keeps a transaction whose process does
	// nothing, and with it a row that others wait for. Default: 10 seconds.
	IdleTimeout time.Duration

	// ListenURL is the connection string for notifications, where the other one
	// leads to a pooler, which does not pass them. Default: the other one, or
	// none if that leads to a pooler.
	ListenURL string

	// Key encrypts the store, and is what opens it later: KeySize random bytes.
	// Whoever loses it has lost the store. The first Open decides whether a store
	// is encrypted; later ones must agree. Open keeps no copy. Default: nil, not
	// encrypted.
	Key []byte

	// Audio keeps the recordings instead of the database: a directory that all
	// processes share, or a bucket.
	// What other processes put into the database can be read still. A directory, or a
	// bucket and prefix, belongs to one store. With Key recordings are encrypted before
	// Audio receives them. Default: nil, in the database.
	Audio store.Audio

	// RowSecurity turns row-level security on, for good: a role that is neither a
	// superuser nor the owner of the tables sees the sessions of the accounts that the
	// table voicescreen.tenants gives it, and nothing else. The role of Open must own the
	// tables, unless it is on already.
	RowSecurity bool

	// Now is the clock, for tests. It must be safe for concurrent use. Default:
	// the clock of the server, which all replicas share.
	Now func() time.Time
}

// maxConns is the size of the pool where the connection string does not give
// pool_max_conns. Chosen: a server has 100 connections by default, for several
// replicas.
const maxConns = 16

// minVersion is the oldest server that is accepted. Chosen: the oldest that the
// PostgreSQL project maintained when this was written.
const minVersion = 14_00_00

// Store is a store in a PostgreSQL database. It is safe for concurrent use, and
// any number of processes may use one database.
type Store struct {
	pool   *pgxpool.Pool
	pooled bool            // behind a pooler in transaction mode: nothing outlives a transaction
	listen *pgx.ConnConfig // for notifications; nil if there are none
	limits limits
	vault  *vault // nil if the store is not encrypted
	clock  *clock
	since  since
	away   elsewhere // recordings that are not in the database
	hints  hints
	calls  store.Calls

	closing context.Context // done when Close was called
	stop    context.CancelFunc
	watches sync.WaitGroup // of calls of Watch, of sendHints and of eraseElsewhere
}

var (
	_ store.Store   = (*Store)(nil)
	_ store.Watcher = (*Store)(nil)

	_ store.NoticeCounter = (*Store)(nil)
)

// Open opens the store in the database of a connection string, such as
// "postgres://user@host/database?pool_max_conns=32": see [pgxpool.ParseConfig].
// It makes or updates the tables, in the schema voicescreen. Several processes
// may call it together. With default_query_exec_mode=cache_describe in the
// connection string it works through pgbouncer in transaction mode.
func Open(ctx context.Context, url string, opts *Options) (*Store, error) {
	if opts == nil {
		opts = &Options{}
	}
	if n := len(opts.Key); n != 0 && n != KeySize {
		return nil, fmt.Errorf("%w: it has %d bytes, want %d", ErrKey, n, KeySize)
	}
	s := &Store{limits: limits{
		statement: orDefault(opts.StatementTimeout, 15*time.Second),
		lock:      orDefault(opts.LockTimeout, 10*time.Second),
		idle:      orDefault(opts.IdleTimeout, 10*time.Second),
	}}
	s.clock = newClock(opts.Now)
	config, err := s.config(url, opts.ListenURL)
	if err != nil {
		return nil, fmt.Errorf("store/postgres: %w", err)
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("store/postgres: open: %w", err)
	}
	if err := s.prepare(ctx, opts); err != nil {
		s.pool.Close()
		return nil, fmt.Errorf("store/postgres: open: %w", err)
	}
	s.hints.keys, s.hints.some = map[screen.SessionKey]bool{}, make(chan struct{}, 1)
	s.closing, s.stop = context.WithCancel(context.Background())
	s.watches.Go(s.sendHints)
	s.away.some = make(chan struct{}, 1)
	if s.away.audio = opts.Audio; opts.Audio != nil {
		s.watches.Go(s.eraseElsewhere)
	}
	return s, nil
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

// config reads the connection strings and adds the limits.
func (s *Store) config(url, listenURL string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err // without the password
	}
	switch config.ConnConfig.DefaultQueryExecMode {
	case pgx.QueryExecModeCacheStatement:
	case pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec:
		s.pooled = true
	default:
		return nil, fmt.Errorf("the connection string asks for default_query_exec_mode %v, want cache_statement, or cache_describe or describe_exec behind a pooler", config.ConnConfig.DefaultQueryExecMode)
	}
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = maxConns
	}
	s.setUp(config.ConnConfig, !s.pooled)
	switch {
	case listenURL != "":
		listen, err := pgxpool.ParseConfig(listenURL) // it may have settings of the pool
		if err != nil {
			return nil, err
		}
		s.listen = listen.ConnConfig
		s.setUp(s.listen, false)
	case !s.pooled:
		s.listen = config.ConnConfig.Copy()
	}
	return config, nil
}

// setUp fills what a connection string leaves open. Settings of the connection are
// those that a pooler cannot keep.
func (s *Store) setUp(c *pgx.ConnConfig, settings bool) {
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 5 * time.Second // chosen: a call has some time left then
	}
	set := func(name, value string) {
		if _, given := c.RuntimeParams[name]; !given {
			c.RuntimeParams[name] = value
		}
	}
	set("application_name", "voicescreen")
	if settings {
		set("statement_timeout", milliseconds(s.limits.statement))
		set("lock_timeout", milliseconds(s.limits.lock))
		set("idle_in_transaction_session_timeout", milliseconds(s.limits.idle))
	}
}

// prepare checks the server, makes the tables and opens the vault.
func (s *Store) prepare(ctx context.Context, opts *Options) error {
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	var version int
	var encoding, fsync, commit string
	if err := c.QueryRow(ctx, sqlServer).Scan(&version, &encoding, &fsync, &commit); err != nil {
		return err
	}
	if err := usable(version, encoding, fsync, commit); err != nil {
		return err
	}
	all, err := migrations(migrationFiles)
	if err != nil {
		return err
	}
	if err := migrate(ctx, c.Conn(), all); err != nil {
		return err
	}
	if err := secureRows(ctx, c.Conn(), opts.RowSecurity); err != nil {
		return err
	}
	var secured bool
	if err := c.QueryRow(ctx, sqlRowsSecured).Scan(&secured); err != nil {
		return err
	}
	if secured {
		s.hints.hideNames()
	}
	s.vault, err = unlock(ctx, c.Conn(), opts.Key)
	return err
}

// usable says whether a server of these settings keeps what it acknowledges, and
// can hold all that is stored.
func usable(version int, encoding, fsync, commit string) error {
	switch {
	case version < minVersion:
		return fmt.Errorf("%w: PostgreSQL %d, want %d or later", ErrServer, version/10000, minVersion/10000)
	case encoding != "UTF8":
		return fmt.Errorf("%w: the database has the encoding %s, want UTF8", ErrServer, encoding)
	case fsync != "on":
		return fmt.Errorf("%w: fsync is %s: what was acknowledged would not survive a power failure", ErrServer, fsync)
	case commit == "off":
		return fmt.Errorf("%w: synchronous_commit is off: what was acknowledged would not survive a crash", ErrServer)
	}
	return nil
}

// Ping is described at [store.Store]. It commits a small change.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.calls.Begin(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	return s.write(ctx, "ping", sqlPing, closed)
}

// Close is described at [store.Store].
func (s *Store) Close() error {
	if err := s.calls.Close(); err != nil {
		return err
	}
	s.stop()
	s.watches.Wait()
	s.pool.Close()
	return nil
}
