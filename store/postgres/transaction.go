package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/voicescreen/voicescreen/store"
)

const (
	// tries is how often a transaction is begun that did not commit for a reason
	// that passes. Chosen.
	tries = 5
	// firstPause is the pause before the second try; each one is twice as long as
	// the one before. Chosen: 150 ms in all, a client waits anyway.
	firstPause = 10 * time.Millisecond
)

// fault is an error of the database or of the way there.
type fault struct {
	err    error
	unsure bool // whether the transaction may have been committed
}

func (f *fault) Error() string {
	if f.unsure {
		return f.err.Error() + " (at the commit: the change may have been made)"
	}
	return f.err.Error()
}

func (f *fault) Unwrap() error { return f.err }

// passes says whether a transaction that failed so may be tried again: nothing
// was committed, and the next try may succeed.
func (f *fault) passes() bool {
	var answered *pgconn.PgError
	switch {
	case f.unsure || errors.Is(f.err, context.Canceled) || errors.Is(f.err, context.DeadlineExceeded):
		return false
	case !errors.As(f.err, &answered):
		return true // the connection was lost, or there was none
	}
	switch answered.Code {
	case "40001", "40P01", // serialization failure, deadlock
		"57P01", "57P02", "57P03": // the server ends, crashed or starts
		return true
	}
	return false
}

// lost says whether the answer to a commit was lost: without one, and where the
// server ended the connection, nobody knows.
func lost(err error) bool {
	var answered *pgconn.PgError
	if errors.As(err, &answered) {
		class := answered.Code[:min(2, len(answered.Code))]
		return class == "57" || class == "08" || class == "XX" || answered.Code == "40003"
	}
	return !pgconn.SafeToRetry(err)
}

// do calls f with a connection, again if it returns a fault that passes. Any other
// error of f is returned as it is. The transaction that f leaves open is rolled
// back.
func (s *Store) do(ctx context.Context, what string, f func(ctx context.Context, c *pgx.Conn) error) error {
	pause := firstPause
	for try := 1; ; try++ {
		err := s.once(ctx, f)
		failed, ok := err.(*fault) // not errors.As: an error of a Change may hold anything
		if !ok {
			return err
		}
		if !failed.passes() || try == tries || ctx.Err() != nil {
			return s.explain(ctx, what, failed)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause/2 + rand.N(pause)): // apart from the one it was in conflict with
		}
		pause *= 2
	}
}

// explain returns the error that the caller gets. A time-out of the store's own
// is not one of the caller's context. A full disk is store.ErrFull, and what passes
// store.ErrUnavailable.
func (s *Store) explain(ctx context.Context, what string, failed *fault) error {
	if ctx.Err() == nil && errors.Is(failed.err, context.DeadlineExceeded) {
		return fmt.Errorf("store/postgres: %s: %w: no answer in time: %v", what, store.ErrUnavailable, failed)
	}
	var answered *pgconn.PgError
	switch {
	case errors.As(failed.err, &answered) && answered.Code == "53100":
		return fmt.Errorf("store/postgres: %s: %w: %w", what, store.ErrFull, failed)
	case failed.unavailable():
		return fmt.Errorf("store/postgres: %s: %w: %w", what, store.ErrUnavailable, failed)
	}
	return fmt.Errorf("store/postgres: %s: %w", what, failed)
}

// unavailable says whether the server could not be reached, or answered that it
// cannot do now what was asked.
func (f *fault) unavailable() bool {
	var answered *pgconn.PgError
	var connect *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.As(f.err, &answered):
	case errors.Is(f.err, context.Canceled), errors.Is(f.err, context.DeadlineExceeded): // of the caller
		return false
	default:
		return errors.As(f.err, &connect) || errors.As(f.err, &network) || errors.Is(f.err, io.EOF) || errors.Is(f.err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(f.err)
	}
	switch answered.Code {
	case "40001", "40P01", "40003", // serialization failure, deadlock, statement completion unknown
		"57014", "55P03", "25P03", // time-outs of a statement, of a lock, of an idle transaction
		"25006",                            // the server is a standby, or only reads
		"57P01", "57P02", "57P03", "57P05", // the server ends, crashed, starts, ends idle sessions
		"53000", "53200", "53300": // it is short of resources, of memory, of connections
		return true
	}
	return strings.HasPrefix(answered.Code, "08") // the connection, also from a pooler
}

// once calls f with a connection.
func (s *Store) once(ctx context.Context, f func(ctx context.Context, c *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.limits.call()) // a network that swallows everything must not hold the caller
	defer cancel()
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return &fault{err: err}
	}
	defer c.Release() // closes a connection that has a transaction open still
	defer func() {    // also when f panics
		if c.Conn().PgConn().TxStatus() != 'I' && !c.Conn().IsClosed() {
			_, _ = c.Exec(ctx, sqlRollback)
		}
	}()
	return f(ctx, c.Conn())
}

// begin queues what begins a transaction.
func (s *Store) begin(b *pgx.Batch) {
	b.Queue(sqlBegin)
	if s.pooled { // otherwise they are settings of the connection
		b.Queue(sqlLimits, s.limits.args()...)
	}
}

// send runs the statements of a batch in one round trip. Commits says whether it
// holds a commit, or a statement that commits by itself.
func send(ctx context.Context, c *pgx.Conn, b *pgx.Batch, commits bool) error {
	if err := c.SendBatch(ctx, b).Close(); err != nil {
		return &fault{err, commits && lost(err)}
	}
	return nil
}

// read runs one statement that changes nothing.
func (s *Store) read(ctx context.Context, what, sql string, scan func(rows pgx.Rows) error, args ...any) error {
	return s.statement(ctx, what, false, sql, scan, args)
}

// write runs one statement that commits.
func (s *Store) write(ctx context.Context, what, sql string, scan func(rows pgx.Rows) error, args ...any) error {
	return s.statement(ctx, what, true, sql, scan, args)
}

func (s *Store) statement(ctx context.Context, what string, commits bool, sql string, scan func(rows pgx.Rows) error, args []any) error {
	return s.do(ctx, what, func(ctx context.Context, c *pgx.Conn) error {
		b := &pgx.Batch{}
		if s.pooled {
			s.begin(b)
		}
		b.Queue(sql, args...).Query(scan)
		if s.pooled {
			b.Queue(sqlCommit)
		}
		return send(ctx, c, b, commits)
	})
}

// limits are the time-outs that the server keeps.
type limits struct{ statement, lock, idle time.Duration }

// call is how long a transaction of two statements may take, waiting for a
// connection included.
func (l limits) call() time.Duration { return 2*l.statement + time.Second }

// args returns the arguments of sqlLimits.
func (l limits) args() []any {
	return []any{milliseconds(l.statement), milliseconds(l.lock), milliseconds(l.idle)}
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(max(1, d.Milliseconds()), 10) }
