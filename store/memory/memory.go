package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// Options are the options of New. Nil and zero fields mean the default.
type Options struct {
	// Now is the clock of the store. It must be safe for concurrent use. Default:
	// time.Now, kept from going back by [store.NewClock].
	Now func() time.Time
}

// Store keeps sessions, audio and documents in memory. It is safe for concurrent use.
// Several engines of one process can share it.
type Store struct {
	calls store.Calls
	now   func() time.Time
	dated func() time.Time // of creations

	mu        sync.RWMutex              // protects all below
	sessions  map[string]*store.Session // by ID; immutable, and never returned to a caller
	users     map[user][]store.Cursor   // in the order of a listing
	due       queue                     // of Next
	notices   queue                     // of NextNotice
	audio     map[string]recording      // by reference
	documents map[string]document       // by name
}

// user identifies the user of a session.
type user struct{ account, id string }

// queue holds sessions in the order in which they are due.
type queue []entry

// entry is a session in a queue.
type entry struct {
	due time.Time
	id  string
}

func (a entry) compare(b entry) int {
	return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.id, b.id))
}

// with returns the queue with a session added, or unchanged if due is zero.
func (q queue) with(due time.Time, id string) queue {
	if due.IsZero() {
		return q
	}
	e := entry{due, id}
	i, _ := slices.BinarySearchFunc(q, e, entry.compare)
	return slices.Insert(q, i, e)
}

// without returns the queue with a session removed, if it is there.
func (q queue) without(due time.Time, id string) queue {
	i, found := slices.BinarySearchFunc(q, entry{due, id}, entry.compare)
	if !found {
		return q
	}
	return slices.Delete(q, i, i+1)
}

var _ store.Store = (*Store)(nil)

// New returns an empty store.
func New(opts *Options) *Store {
	if opts == nil {
		opts = &Options{}
	}
	now := store.NewClock(opts.Now)
	return &Store{
		now:       now,
		dated:     store.NewCreationClock(now),
		sessions:  map[string]*store.Session{},
		users:     map[user][]store.Cursor{},
		audio:     map[string]recording{},
		documents: map[string]document{},
	}
}

// Create is described at [store.Store].
func (m *Store) Create(ctx context.Context, s *store.Session) error {
	if err := m.calls.Begin(ctx); err != nil {
		return err
	}
	defer m.calls.End()
	s = s.Clone()
	s.Created(m.dated())
	if err := s.Check(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.sessions[s.ID]; taken {
		return store.ErrExists
	}
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

// Head is described at [store.Store].
func (m *Store) Head(ctx context.Context, account, id string) (*store.Session, error) {
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
	return head(s), nil
}

// head returns a copy without Scores and Features.
func head(s *store.Session) *store.Session {
	c := *s
	c.Scores, c.Features = nil, nil
	return c.Clone()
}

// Update is described at [store.Store].
func (m *Store) Update(ctx context.Context, account, id string, change store.Change) (*store.Session, error) {
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
func (m *Store) Next(ctx context.Context, change store.Change) (*store.Session, error) {
	if err := m.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer m.calls.End()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.due) == 0 || m.due[0].due.After(m.now()) {
		return nil, store.ErrNoneDue
	}
	s := m.sessions[m.due[0].id]
	return m.change(s, change, s.CheckNext)
}

// NextNotice is described at [store.Store]. Its time grows with the number of due
// notices.
func (m *Store) NextNotice(ctx context.Context, without []string, change store.Change) (*store.Session, error) {
	if err := m.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer m.calls.End()
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for _, e := range m.notices {
		if e.due.After(now) {
			break
		}
		if s := m.sessions[e.id]; !slices.Contains(without, s.Account) {
			return m.change(s, change, s.CheckNextNotice)
		}
	}
	return nil, store.ErrNoneDue
}

// change applies change to a session and stores the result if check returns nil.
func (m *Store) change(before *store.Session, change store.Change, check func(*store.Session) error) (*store.Session, error) {
	changed := head(before)
	if err := change(changed, m.now()); err != nil {
		return nil, err
	}
	changed = changed.Clone() // change may keep the session that it received
	if err := check(changed); err != nil {
		return nil, err
	}
	after := changed.Clone()
	if !after.Analyzed() {
		after.Scores, after.Features = before.Scores, before.Features
	}
	m.dequeue(before)
	m.enqueue(after)
	m.sessions[after.ID] = after
	if before.Audio != after.Audio {
		delete(m.audio, before.Audio)
	}
	return changed, nil
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
	cursors := m.users[user{account, userID}]
	if after != nil {
		i, found := slices.BinarySearchFunc(cursors, *after, compareCursors)
		if found {
			i++
		}
		cursors = cursors[i:]
	}
	cursors = cursors[:max(0, min(limit, len(cursors)))]
	var list []*store.Session
	for _, c := range cursors {
		list = append(list, m.sessions[c.ID].Clone())
	}
	return list, nil
}

// Scan is described at [store.Store].
func (m *Store) Scan(ctx context.Context, after string, limit int) ([]*store.Session, error) {
	if err := m.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer m.calls.End()
	m.mu.RLock()
	defer m.mu.RUnlock()
	ids := slices.Sorted(maps.Keys(m.sessions))
	at, found := slices.BinarySearch(ids, after)
	if found {
		at++
	}
	var list []*store.Session
	for _, id := range ids[at:] {
		if len(list) >= limit {
			break
		}
		list = append(list, m.sessions[id].Clone())
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
	cursors := slices.Clone(m.users[user{account, userID}])
	for _, c := range cursors {
		m.remove(m.sessions[c.ID])
	}
	return len(cursors), nil
}

// Expire is described at [store.Store]. Its time grows with the number of sessions.
func (m *Store) Expire(ctx context.Context, age time.Duration, limit int) (expired []screen.SessionKey, err error) {
	if err := m.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer m.calls.End()
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.now().Add(-age)
	for _, s := range m.sessions {
		if len(expired) >= limit {
			break
		}
		if kept := s.Kept(); !kept.IsZero() && !kept.After(before) {
			m.remove(s)
			expired = append(expired, screen.SessionKey{Account: s.Account, ID: s.ID})
		}
	}
	return expired, nil
}

// Ping is described at [store.Store].
func (m *Store) Ping(ctx context.Context) error {
	if err := m.calls.Begin(ctx); err != nil {
		return err
	}
	m.calls.End()
	return nil
}

// Close is described at [store.Store]. It frees all sessions, audio and documents.
func (m *Store) Close() error {
	if err := m.calls.Close(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions, m.users, m.due, m.notices, m.audio, m.documents = nil, nil, nil, nil, nil, nil
	return nil
}

// find returns a stored session of an account, which the caller must not change.
func (m *Store) find(account, id string) (*store.Session, error) {
	s, ok := m.sessions[id]
	if !ok || s.Account != account {
		return nil, store.ErrNotFound
	}
	return s, nil
}

// remove removes a stored session, its audio and its entries in users and queues.
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
	m.due = m.due.with(s.Due, s.ID)
	m.notices = m.notices.with(s.Notify, s.ID)
}

func (m *Store) dequeue(s *store.Session) {
	m.due = m.due.without(s.Due, s.ID)
	m.notices = m.notices.without(s.Notify, s.ID)
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
