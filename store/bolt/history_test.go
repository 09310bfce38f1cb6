package bolt_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

const (
	// envHistory is the path of a store in which the test binary makes histories. It
	// prints "NAME N" after each acknowledged operation.
	envHistory = "VOICESCREEN_TEST_HISTORY"
	// envHistoryName is the prefix of the names of its histories.
	envHistoryName = "VOICESCREEN_TEST_HISTORY_NAME"

	historyThreads = 3  // concurrent histories; chosen: enough to share commits
	historyLength  = 40 // operations of each; chosen: they make five sessions
)

// makeHistories is the main function of the process that is recorded.
func makeHistories(path string) {
	opts := bolt.Options{Now: historyNow}
	if os.Getenv(envCrashKey) != "" {
		opts.Key = testKey
	}
	if os.Getenv(envPersist) != "" {
		persist(path, &opts)
	}
	st, err := bolt.Open(path, &opts)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	var mu sync.Mutex // serialises output
	var all sync.WaitGroup
	for worker := range historyThreads {
		all.Go(func() {
			h := newHistory(fmt.Sprintf("%s%d", os.Getenv(envHistoryName), worker))
			for range historyLength {
				do := h.next()
				err := do(context.Background(), st)
				mu.Lock()
				if err != nil {
					fmt.Println("error", err)
				} else {
					fmt.Println(h.name, h.n)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	_ = st.Close()
	os.Exit(0)
}

// history is a sequence of operations on its own sessions, and a model of them. Its name
// determines it: after n operations the store contains the sessions that a new history
// of that name contains after n calls of next. Audio of a session in the model is the
// content, not a reference.
type history struct {
	name     string
	n        int // operations made
	sessions map[string]*store.Session
	document string // of the history's name
}

func newHistory(name string) *history {
	return &history{name: name, sessions: map[string]*store.Session{}}
}

// stages is the number of operations for each session.
const stages = 8

// operation makes a change in a store.
type operation func(ctx context.Context, st store.Store) error

// next applies the next operation to h and returns it.
func (h *history) next() operation {
	i, k := h.n, h.n/stages
	h.n++
	id, now := fmt.Sprintf("%s-%d", h.name, k), h.epoch().Add(time.Duration(i)*time.Second)
	switch i % stages {
	case 0:
		s := &store.Session{Account: h.name, ID: id, UserID: h.user(k), Status: screen.StatusInitiated, CreatedAt: now, UpdatedAt: now}
		h.sessions[id] = s
		return func(ctx context.Context, st store.Store) error { return st.Create(ctx, s) }
	case 1:
		return h.submit(id, k, now)
	case 2:
		return h.update(id, func(s *store.Session) {
			if k%4 != 3 { // one in four stays in the queue
				s.Status, s.Owner, s.Token, s.Attempts, s.Due = screen.StatusProcessing, "worker", s.Token+1, s.Attempts+1, now.Add(time.Minute)
			}
		})
	case 3:
		return h.update(id, func(s *store.Session) {
			if s.Leased() {
				s.Status, s.Owner, s.Due, s.Audio, s.UpdatedAt, s.Notify = screen.StatusSuccess, "", time.Time{}, "", now, now
				s.Scores, s.Features = result(k).Scores, result(k).Features
			}
		})
	case 4:
		return h.update(id, func(s *store.Session) {
			s.Labels.PHQ2, s.Labels.UpdatedAt, s.UpdatedAt = []int{k % 4, 3}, now, now
		})
	case 5:
		return h.notice()
	case 6:
		if k%2 == 0 {
			return h.put(id)
		}
		return func(ctx context.Context, st store.Store) error { // a submission that is refused
			ref, err := st.Audio().Put(ctx, strings.NewReader(id))
			if err != nil {
				return err
			}
			return st.Audio().Remove(ctx, ref)
		}
	}
	return h.remove(k, now)
}

// historyNow is the clock of the stores: a time after all histories.
func historyNow() time.Time { return time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC) }

// put replaces the history's document.
func (h *history) put(content string) operation {
	h.document = content
	return func(ctx context.Context, st store.Store) error {
		_, revision, err := st.Document(ctx, h.name)
		if err != nil {
			return err
		}
		_, err = st.PutDocument(ctx, h.name, revision, []byte(content))
		return err
	}
}

// epoch is the time at which a history begins. Histories whose name ends in 0 begin long
// ago, so that Expire removes only their sessions.
func (h *history) epoch() time.Time {
	if strings.HasSuffix(h.name, "0") {
		return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
}

func (h *history) user(k int) string { return fmt.Sprintf("user-%d", k/3) }

// audioText is the audio of a session, of which some fits a page and some does not.
func audioText(id string, k int) string { return strings.Repeat(id+" ", 1+k%5*500) }

func (h *history) submit(id string, k int, now time.Time) operation {
	audio := audioText(id, k)
	change := func(s *store.Session) {
		s.Status, s.Product, s.SubmittedAt, s.UpdatedAt, s.Due = screen.StatusProcessing, screen.DeepfakeBinary, now, now, now
	}
	change(h.sessions[id])
	h.sessions[id].Audio = audio
	return func(ctx context.Context, st store.Store) error {
		ref, err := st.Audio().Put(ctx, strings.NewReader(audio))
		if err != nil {
			return err
		}
		_, err = st.Update(ctx, h.name, id, func(s *store.Session, _ time.Time) error { change(s); s.Audio = ref; return nil })
		if err != nil {
			err = errors.Join(err, st.Audio().Remove(ctx, ref))
		}
		return err
	}
}

func (h *history) update(id string, change func(s *store.Session)) operation {
	change(h.sessions[id])
	return func(ctx context.Context, st store.Store) error {
		_, err := st.Update(ctx, h.name, id, func(s *store.Session, _ time.Time) error { change(s); return nil })
		return err
	}
}

// notice takes the first notice of the history's account.
func (h *history) notice() operation {
	var first *store.Session
	for _, s := range h.sessions {
		if !s.Notify.IsZero() && (first == nil || s.Notify.Before(first.Notify)) {
			first = s
		}
	}
	if first != nil {
		first.Notify, first.Notices = time.Time{}, first.Notices+1
	}
	return func(ctx context.Context, st store.Store) error {
		err := h.nextNotice(ctx, st)
		if first == nil && errors.Is(err, store.ErrNoneDue) {
			return nil
		}
		return err
	}
}

// nextNotice takes the first notice of the account.
func (h *history) nextNotice(ctx context.Context, st store.Store) error {
	errOther := errors.New("another history's")
	var without []string
	for {
		other := ""
		_, err := st.NextNotice(ctx, without, func(s *store.Session, _ time.Time) error {
			if s.Account != h.name {
				other = s.Account
				return errOther
			}
			s.Notify, s.Notices = time.Time{}, s.Notices+1
			return nil
		})
		if !errors.Is(err, errOther) {
			return err
		}
		without = append(without, other)
	}
}

// remove deletes a session, forgets a user or lets sessions expire.
func (h *history) remove(k int, now time.Time) operation {
	switch k % 6 {
	case 1, 3:
		id := fmt.Sprintf("%s-%d", h.name, k-1)
		_, there := h.sessions[id]
		delete(h.sessions, id)
		return func(ctx context.Context, st store.Store) error {
			err := st.Delete(ctx, h.name, id)
			if !there && errors.Is(err, store.ErrNotFound) {
				return nil
			}
			return err
		}
	case 2:
		maps.DeleteFunc(h.sessions, func(_ string, s *store.Session) bool { return s.UserID == h.user(k) })
		return func(ctx context.Context, st store.Store) error {
			_, err := st.Forget(ctx, h.name, h.user(k))
			return err
		}
	case 5:
		return h.expire(now)
	}
	return func(context.Context, store.Store) error { return nil }
}

// expire removes the three sessions that are kept longest, if the history began long
// ago.
func (h *history) expire(now time.Time) operation {
	if now.Year() > 2000 {
		return func(context.Context, store.Store) error { return nil }
	}
	kept := slices.DeleteFunc(slices.Collect(maps.Values(h.sessions)), func(s *store.Session) bool { return s.Kept().IsZero() })
	slices.SortFunc(kept, func(a, b *store.Session) int {
		return cmp.Or(a.Kept().Compare(b.Kept()), cmp.Compare(a.ID, b.ID))
	})
	for _, s := range kept[:min(3, len(kept))] {
		delete(h.sessions, s.ID)
	}
	return func(ctx context.Context, st store.Store) error {
		_, err := st.Expire(ctx, historyNow().Sub(now), 3)
		return err
	}
}

// differs returns the first difference between h and the sessions and document found in
// a store, nil if they are equal.
func (h *history) differs(found map[string]*store.Session, document string) error {
	if document != h.document {
		return fmt.Errorf("the document is %q, want %q", document, h.document)
	}
	for id, want := range h.sessions {
		got, ok := found[id]
		if !ok {
			return fmt.Errorf("session %s is lost", id)
		}
		if got, want := got.Clone(), want.Clone(); !reflect.DeepEqual(got, want) {
			return fmt.Errorf("session %s: got %v from %v, audio of %d bytes; want %v from %v, %d", id, got.Status, got.UpdatedAt, len(got.Audio), want.Status, want.UpdatedAt, len(want.Audio))
		}
	}
	for id := range found {
		if h.sessions[id] == nil {
			return fmt.Errorf("session %s exists, want it removed", id)
		}
	}
	return nil
}

// acknowledgement is the number of acknowledged operations of a history, and the number
// that may have been made, without the one that may be in progress.
type acknowledgement struct{ sure, seen int }

// holdsAcknowledged opens the store at path and compares it with the histories after
// their acknowledged operations. An operation in progress may be done or not. Then it
// checks the audio directory and the whole store.
func holdsAcknowledged(path string, key []byte, acknowledged map[string]acknowledgement) error {
	opts := &bolt.Options{Key: key, Now: historyNow}
	if err := holds(path, opts, acknowledged); err != nil {
		return err
	}
	_, err := bolt.Check(context.Background(), path, opts, func(fault string) error { return errors.New(fault) })
	return err
}

func holds(path string, opts *bolt.Options, acknowledged map[string]acknowledgement) (err error) {
	st, err := bolt.Open(path, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	found, waits, err := scan(st)
	if err != nil {
		return err
	}
	for name, n := range acknowledged {
		h := newHistory(name)
		for h.n < n.sure {
			h.next()
		}
		document, _, err := st.Document(context.Background(), name)
		if err != nil {
			return err
		}
		why := h.differs(found[name], string(document))
		for why != nil && h.n <= n.seen {
			h.next()
			err := h.differs(found[name], string(document))
			if err == nil {
				why = nil
				break
			}
			why = fmt.Errorf("%w; after one more: %w", why, err)
		}
		if why != nil {
			return fmt.Errorf("history %s after %d operations: %w", name, n.sure, why)
		}
	}
	if names, err := os.ReadDir(path + ".audio"); len(names) != waits || err != nil {
		return fmt.Errorf("got %d audio files (%v), want %d", len(names), err, waits)
	}
	if names, err := filepath.Glob(path + ".*new-*"); len(names) != 0 || err != nil {
		return fmt.Errorf("got files %v (%v) of a creation", names, err)
	}
	return st.Ping(context.Background())
}

func readAudio(ctx context.Context, st store.Store, ref string) (string, error) {
	f, err := st.Audio().Open(ctx, ref)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(f)
	return string(b), errors.Join(err, f.Close())
}
