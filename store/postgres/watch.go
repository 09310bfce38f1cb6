package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

const (
	// hintPause is how long hints are collected before they are sent. Chosen: a
	// notification in each transaction would make all commits of the server wait
	// for one another.
	hintPause = 10 * time.Millisecond
	// maxHints is how many hints are sent at once; for more there is one that
	// stands for all. Chosen.
	maxHints = 1000
	// hintTimeout is how long a server may take to send hints. Chosen: Close waits
	// for it.
	hintTimeout = time.Second
)

// hints are the keys of sessions that changed, of which other processes are told
// after the commit. They may be lost. It is safe for concurrent use.
type hints struct {
	mu       sync.Mutex // protects keys and nameless
	keys     map[screen.SessionKey]bool
	nameless bool          // whether hints name no session
	some     chan struct{} // has an element if there may be keys
}

// hideNames makes hints stand for any session from now on. PostgreSQL has no permissions for
// what is notified: every role of the database may listen.
func (h *hints) hideNames() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.nameless = true
}

func (h *hints) add(keys ...screen.SessionKey) {
	if len(keys) == 0 {
		return
	}
	h.mu.Lock()
	for _, key := range keys {
		if len(h.keys) <= maxHints {
			h.keys[key] = true
		}
	}
	h.mu.Unlock()
	select {
	case h.some <- struct{}{}:
	default:
	}
}

// take returns the payloads of what was added since the last call.
func (h *hints) take() (payloads []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.keys) > maxHints || h.nameless && len(h.keys) > 0 {
		payloads = []string{payload(screen.SessionKey{})}
	} else {
		for key := range h.keys {
			payloads = append(payloads, payload(key))
		}
	}
	clear(h.keys)
	return payloads
}

// sendHints sends hints until the store is closed, and then the last ones.
func (s *Store) sendHints() {
	for s.closing.Err() == nil {
		select {
		case <-s.closing.Done():
		case <-s.hints.some:
		}
		select {
		case <-s.closing.Done():
		case <-time.After(hintPause):
		}
		if payloads := s.hints.take(); len(payloads) > 0 {
			ctx, cancel := context.WithTimeout(context.Background(), hintTimeout)
			_ = s.once(ctx, func(ctx context.Context, c *pgx.Conn) error { // whoever misses it polls
				_, err := c.Exec(ctx, sqlNotify, payloads)
				return err
			})
			cancel()
		}
	}
}

// payload returns the text of a notification: the length of the account, the
// account and the ID.
func payload(key screen.SessionKey) string {
	return strconv.Itoa(len(key.Account)) + " " + key.Account + key.ID
}

// keyOf is the inverse of payload. What it cannot read stands for any session.
func keyOf(payload string) screen.SessionKey {
	length, text, _ := strings.Cut(payload, " ")
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 || n > len(text) {
		return screen.SessionKey{}
	}
	return screen.SessionKey{Account: text[:n], ID: text[n:]}
}

// Watch is described at [store.Watcher]. It holds a connection of its own, and
// returns an error when that is lost. Behind a pooler and without
// Options.ListenURL nothing is heard.
func (s *Store) Watch(ctx context.Context, changed func(key screen.SessionKey)) error {
	if err := s.calls.Begin(ctx); err != nil {
		return err
	}
	s.watches.Add(1) // before Close waits for them
	s.calls.End()
	defer s.watches.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.closing, cancel)()
	if s.listen == nil {
		<-ctx.Done()
		return s.ended(ctx)
	}
	err := s.hear(ctx, changed)
	if ctx.Err() != nil {
		return s.ended(ctx)
	}
	return fmt.Errorf("store/postgres: watch: %w", err)
}

// ended returns why a Watch ends whose context is done.
func (s *Store) ended(ctx context.Context) error {
	if s.closing.Err() != nil {
		return store.ErrClosed
	}
	return ctx.Err()
}

// hear calls changed for each notification until the connection is lost.
func (s *Store) hear(ctx context.Context, changed func(key screen.SessionKey)) error {
	c, err := pgx.ConnectConfig(ctx, s.listen)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = c.Close(ctx) // it was only read
	}()
	if _, err := c.Exec(ctx, sqlListen); err != nil {
		return err
	}
	changed(screen.SessionKey{}) // what changed before is not heard
	for {
		n, err := c.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		changed(keyOf(n.Payload))
	}
}
