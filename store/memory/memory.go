package memory

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/voicescreen/voicescreen/store"
)

// Store keeps sessions and audio in memory. It is safe for concurrent use.
type Store struct {
	calls store.Calls

	mu       sync.RWMutex              // protects all below
	sessions map[string]*store.Session // by ID; never handed out, replaced and not changed
	users    map[user][]store.Cursor   // in the order of a listing
	due      []place                   // in the order of Next
	audio    map[string][]byte         // by reference; never changed
}

// user is whom a session belongs to.
type user struct{ account, id string }

// place is where a session stands in the queue.
type place struct {
	due time.Time
	id  string
}

func (p place) compare(q place) int {
	return cmp.Or(p.due.Compare(q.due), cmp.Compare(p.id, q.id))
}

var _ store.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store {
	return &Store{
		sessions: map[string]*store.Session{},
		users:    map[user][]store.Cursor{},
		audio:    map[string][]byte{},
	}
}

// Create is described at [store.Store].
func (m *Store) Create(ctx context.Context, s *store.Session) error {
	if err := m.calls.Begin(ctx); err != nil {
		return err
	}
	defer m.calls.End()
	if err := s.Check(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.sessions[s.ID]; taken {
		return store.ErrExists
	}
	s = s.Clone()
	m.sessions[s.ID] = s
	u := user{s.Account, s.UserID}
	i, _ := slices.BinarySearchFunc(m.users[u], s.Cursor(), compareCursors)
	m.users[u] = slices.Insert(m.users[u], i, s.Cursor())
	m.enqueue(s)
	return nil
}

// Get is described at [store.Store].
func (m *Store) Get(ctx context.Context, account, id string) (*store.Session, error) {
	if err := m.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer m.calls.End()
	m.mu.RLock()
	defer m.mu.RUnlock()
	s, err := m.find(account, id)
	if err != nil {
		return nil, err
	}
	return s.Clone(), nil
}

// Update is described at [store.Store].
func (m *Store) Update(ctx context.Context, account, id string, change func(*store.Session) error) (*store.Session, error) {
	if err := m.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer m.calls.End()
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(account, id)
	if err != nil {
		return nil, err
	}
	return m.change(s, change, s.CheckChange)
}

// Next is described at [store.Store].
func (m *Store) Next(ctx context.Context, now time.Time, change func(*store.Session) error) (*store.Session, error) {
	if err := m.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer m.calls.End()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.due) == 0 || m.due[0].due.After(now) {
		return nil, store.ErrNoneDue
	}
	s := m.sessions[m.due[0].id]
	return m.change(s, change, s.CheckNext)
}

// change replaces a session by what change makes of it.
func (m *Store) change(before *store.Session, change, check func(*store.Session) error) (*store.Session, error) {
	after := before.Clone()
	if err := change(after); err != nil {
		return nil, err
	}
	if err := check(after); err != nil {
		return nil, err
	}
	after = after.Clone()
	m.dequeue(before)
	m.enqueue(after)
	m.sessions[after.ID] = after
	if before.Audio != after.Audio {
		delete(m.audio, before.Audio)
	}
	return after.Clone(), nil
}

// Due is described at [store.Store].
func (m *Store) Due(ctx context.Context) (int, error) {
	if err := m.calls.Begin(ctx); err != nil {
		return 0, err
	}
	defer m.calls.End()
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.due), nil
}

// List is described at [store.Store].
func (m *Store) List(ctx context.Context, account, userID string, after *store.Cursor, limit int) ([]*store.Session, error) {
	if err := m.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer m.calls.End()
	m.mu.RLock()
	defer m.mu.RUnlock()
	places := m.users[user{account, userID}]
	if after != nil {
		i, found := slices.BinarySearchFunc(places, *after, compareCursors)
		if found {
			i++
		}
		places = places[i:]
	}
	places = places[:max(0, min(limit, len(places)))]
	var list []*store.Session
	for _, p := range places {
		list = append(list, m.sessions[p.ID].Clone())
	}
	return list, nil
}

// Delete is described at [store.Store].
func (m *Store) Delete(ctx context.Context, account, id string) error {
	if err := m.calls.Begin(ctx); err != nil {
		return err
	}
	defer m.calls.End()
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(account, id)
	if err != nil {
		return err
	}
	m.remove(s)
	return nil
}

// Forget is described at [store.Store].
func (m *Store) Forget(ctx context.Context, account, userID string) (int, error) {
	if err := m.calls.Begin(ctx); err != nil {
		return 0, err
	}
	defer m.calls.End()
	m.mu.Lock()
	defer m.mu.Unlock()
	places := slices.Clone(m.users[user{account, userID}])
	for _, p := range places {
		m.remove(m.sessions[p.ID])
	}
	return len(places), nil
}

// Ping is described at [store.Store].
func (m *Store) Ping(ctx context.Context) error {
	if err := m.calls.Begin(ctx); err != nil {
		return err
	}
	m.calls.End()
	return nil
}

// Close is described at [store.Store]. It drops all sessions and audio.
func (m *Store) Close() error {
	if err := m.calls.Close(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions, m.users, m.due, m.audio = nil, nil, nil, nil
	return nil
}

// find returns the stored session of an account, not a copy.
func (m *Store) find(account, id string) (*store.Session, error) {
	s, ok := m.sessions[id]
	if !ok || s.Account != account {
		return nil, store.ErrNotFound
	}
	return s, nil
}

// remove takes a stored session out of everything.
func (m *Store) remove(s *store.Session) {
	u := user{s.Account, s.UserID}
	if i, found := slices.BinarySearchFunc(m.users[u], s.Cursor(), compareCursors); found {
		m.users[u] = slices.Delete(m.users[u], i, i+1)
	}
	if len(m.users[u]) == 0 {
		delete(m.users, u)
	}
	m.dequeue(s)
	delete(m.sessions, s.ID)
	delete(m.audio, s.Audio)
}

func (m *Store) enqueue(s *store.Session) {
	if s.Due.IsZero() {
		return
	}
	p := place{s.Due, s.ID}
	i, _ := slices.BinarySearchFunc(m.due, p, place.compare)
	m.due = slices.Insert(m.due, i, p)
}

func (m *Store) dequeue(s *store.Session) {
	if i, found := slices.BinarySearchFunc(m.due, place{s.Due, s.ID}, place.compare); found {
		m.due = slices.Delete(m.due, i, i+1)
	}
}

func compareCursors(a, b store.Cursor) int {
	switch {
	case a.Before(b):
		return -1
	case b.Before(a):
		return 1
	}
	return 0
}
