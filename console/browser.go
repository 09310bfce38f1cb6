package console

import (
	"crypto/rand"
	"crypto/sha256"
	"slices"
	"sync"
	"time"
)

const (
	// idleTime is how long a sign-in lasts without a request of a person. Chosen: that of a patient's
	// recording and questionnaires.
	idleTime = 15 * time.Minute

	// signInTime is how long a sign-in lasts at most. Chosen: longer than a shift.
	signInTime = 12 * time.Hour

	// browsersOfKey is how many sign-ins one key has at most; a further one ends the
	// oldest. Chosen: the devices of a practice.
	browsersOfKey = 100

	// recentSessions is how many sessions a sign-in remembers. Chosen: a morning's.
	recentSessions = 20
)

// A browser is one sign-in with an API key.
type browser struct {
	key, keyID string
	begun      time.Time

	mu     sync.Mutex // protects what follows
	seen   time.Time
	recent []string // the sessions that were opened here, the last first
}

// browsers holds the sign-ins, by the hash of their cookies. It is safe for concurrent
// use.
type browsers struct {
	now func() time.Time

	mu  sync.Mutex // protects all
	all map[[sha256.Size]byte]*browser
}

func newBrowsers(now func() time.Time) *browsers {
	return &browsers{now: now, all: map[[sha256.Size]byte]*browser{}}
}

// add begins a sign-in and returns the value of its cookie: 130 random bits or more.
func (b *browsers) add(key, keyID string) (cookie string) {
	cookie = rand.Text()
	now := b.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	var oldest [sha256.Size]byte
	var first time.Time
	n := 0
	for hash, s := range b.all {
		switch {
		case s.over(now):
			delete(b.all, hash)
		case s.keyID == keyID:
			if n++; first.IsZero() || s.begun.Before(first) {
				oldest, first = hash, s.begun
			}
		}
	}
	if n >= browsersOfKey {
		delete(b.all, oldest)
	}
	b.all[sha256.Sum256([]byte(cookie))] = &browser{key: key, keyID: keyID, begun: now, seen: now}
	return cookie
}

// find returns the sign-in of a cookie, nil if there is none or it is over, and notes
// that a person used it if so.
func (b *browsers) find(cookie string, used bool) *browser {
	hash := sha256.Sum256([]byte(cookie))
	now := b.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.all[hash]
	if s == nil {
		return nil
	}
	if s.over(now) {
		delete(b.all, hash)
		return nil
	}
	if used {
		s.mu.Lock()
		s.seen = now
		s.mu.Unlock()
	}
	return s
}

// remove ends the sign-in of a cookie.
func (b *browsers) remove(cookie string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.all, sha256.Sum256([]byte(cookie)))
}

// over says whether a sign-in has ended by time.
func (s *browser) over(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Sub(s.seen) >= idleTime || now.Sub(s.begun) >= signInTime
}

// opened notes a session that was opened. A nil browser notes nothing.
func (s *browser) opened(session string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent = slices.DeleteFunc(s.recent, func(id string) bool { return id == session })
	s.recent = slices.Insert(s.recent, 0, session)
	s.recent = s.recent[:min(len(s.recent), recentSessions)]
}

// erased forgets a session that was opened. A nil browser has none.
func (s *browser) erased(session string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent = slices.DeleteFunc(s.recent, func(id string) bool { return id == session })
}

// sessions returns the sessions that were opened, the last first.
func (s *browser) sessions() []string {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.recent)
}
