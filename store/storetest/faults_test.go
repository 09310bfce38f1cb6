package storetest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/memory"
)

// at2000000 is the time of a store at the beginning of a case.
var at2000000 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(2_000_000 * time.Second)

// faults are planted one at a time. Each of them breaks one promise.
var faults = map[string]func(f *faulty, m *memory.Store){
	"an ID is unique only in its account": func(f *faulty, m *memory.Store) {
		f.create = func(ctx context.Context, s *store.Session) error {
			err := m.Create(ctx, s)
			if _, found := m.Get(ctx, s.Account, s.ID); errors.Is(err, store.ErrExists) && found != nil {
				return nil
			}
			return err
		}
	},
	"Create returns nil for an invalid session": func(f *faulty, m *memory.Store) {
		f.create = func(ctx context.Context, s *store.Session) error {
			if s.Status > screen.StatusFailed {
				return nil
			}
			return m.Create(ctx, s)
		}
	},
	"a session of another account can be read": func(f *faulty, m *memory.Store) {
		var mu sync.Mutex
		accounts := map[string]string{}
		f.create = func(ctx context.Context, s *store.Session) error {
			err := m.Create(ctx, s)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				accounts[s.ID] = s.Account
			}
			return err
		}
		f.get = func(ctx context.Context, _, id string) (*store.Session, error) {
			mu.Lock()
			account := accounts[id]
			mu.Unlock()
			return m.Get(ctx, account, id)
		}
	},
	"negative zeros come back as 0": func(f *faulty, m *memory.Store) {
		f.get = func(ctx context.Context, account, id string) (*store.Session, error) {
			s, err := m.Get(ctx, account, id)
			if err == nil {
				for name, x := range s.Features {
					if math.Signbit(x) {
						s.Features[name] = 0
					}
				}
			}
			return s, err
		}
	},
	"records are returned by reference": func(f *faulty, m *memory.Store) {
		var mu sync.Mutex
		held := map[string]*store.Session{}
		f.get = func(ctx context.Context, account, id string) (*store.Session, error) {
			s, err := m.Get(ctx, account, id)
			if err != nil {
				return nil, err
			}
			mu.Lock()
			defer mu.Unlock()
			if h := held[account+id]; h != nil {
				return h, nil
			}
			held[account+id] = s
			return s, nil
		}
	},
	"updates are read and written in two transactions": func(f *faulty, m *memory.Store) {
		f.update = func(ctx context.Context, account, id string, c store.Change) (*store.Session, error) {
			after, err := m.Get(ctx, account, id)
			if err != nil {
				return nil, err
			}
			if err := c(after, time.Now()); err != nil {
				return nil, err
			}
			time.Sleep(time.Millisecond)
			return m.Update(ctx, account, id, func(s *store.Session, _ time.Time) error { *s = *after; return nil })
		}
	},
	"the error of change is wrapped": func(f *faulty, m *memory.Store) {
		f.update = func(ctx context.Context, account, id string, c store.Change) (*store.Session, error) {
			s, err := m.Update(ctx, account, id, c)
			if err != nil {
				err = errors.Join(err)
			}
			return s, err
		}
	},
	"a change that fails is stored": func(f *faulty, m *memory.Store) {
		f.update = func(ctx context.Context, account, id string, c store.Change) (*store.Session, error) {
			var failed error
			s, err := m.Update(ctx, account, id, func(s *store.Session, now time.Time) error {
				before := s.Clone()
				if failed = c(s, now); failed != nil && s.CheckChange(before) != nil {
					*s = *before
				}
				return nil
			})
			if failed != nil {
				return nil, failed
			}
			return s, err
		}
	},
	"Next takes a session before it is due": func(f *faulty, m *memory.Store) {
		f.next = func(ctx context.Context, c store.Change) (*store.Session, error) {
			f.ahead.Store(1)
			defer f.ahead.Store(0)
			return m.Next(ctx, c)
		}
	},
	"Next returns a session twice": func(f *faulty, m *memory.Store) {
		var mu sync.Mutex
		var last *store.Session
		f.next = func(ctx context.Context, c store.Change) (*store.Session, error) {
			mu.Lock()
			again := last
			last = nil
			mu.Unlock()
			if again != nil {
				return again, c(again, time.Now())
			}
			return m.Next(ctx, func(s *store.Session, now time.Time) error {
				before := s.Clone()
				err := c(s, now)
				mu.Lock()
				defer mu.Unlock()
				last = before
				return err
			})
		}
	},
	"NextNotice ignores the accounts to leave out": func(f *faulty, m *memory.Store) {
		f.notice = func(ctx context.Context, _ []string, c store.Change) (*store.Session, error) {
			return m.NextNotice(ctx, nil, c)
		}
	},
	"NextNotice accepts an unchanged Notify": func(f *faulty, m *memory.Store) {
		f.notice = func(ctx context.Context, without []string, c store.Change) (*store.Session, error) {
			return m.NextNotice(ctx, without, func(s *store.Session, now time.Time) error {
				before := s.Notify
				err := c(s, now)
				if s.Notify.Equal(before) {
					s.Notify = before.Add(time.Microsecond)
				}
				return err
			})
		}
	},
	"a change receives another time than the store's": func(f *faulty, m *memory.Store) {
		f.update = func(ctx context.Context, account, id string, c store.Change) (*store.Session, error) {
			return m.Update(ctx, account, id, func(s *store.Session, now time.Time) error { return c(s, now.Add(time.Microsecond)) })
		}
	},
	"a document is replaced whatever its revision": func(f *faulty, m *memory.Store) {
		f.putDocument = func(ctx context.Context, name string, revision uint64, data []byte) (uint64, error) {
			_, now, err := m.Document(ctx, name)
			if err != nil {
				return 0, err
			}
			return m.PutDocument(ctx, name, now, data)
		}
	},
	"a document that is put as it was keeps its revision": func(f *faulty, m *memory.Store) {
		f.putDocument = func(ctx context.Context, name string, revision uint64, data []byte) (uint64, error) {
			if before, now, err := m.Document(ctx, name); err == nil && now == revision && now > 0 && bytes.Equal(before, data) {
				return now, nil
			}
			return m.PutDocument(ctx, name, revision, data)
		}
	},
	"a document is read by reference": func(f *faulty, m *memory.Store) {
		var mu sync.Mutex
		held := map[uint64][]byte{}
		f.document = func(ctx context.Context, name string) ([]byte, uint64, error) {
			data, revision, err := m.Document(ctx, name)
			mu.Lock()
			defer mu.Unlock()
			if h := held[revision]; h != nil && len(h) == len(data) {
				return h, revision, err
			}
			held[revision] = data
			return data, revision, err
		}
	},
	"Expire leaves sessions of exactly the age": func(f *faulty, m *memory.Store) {
		f.expire = func(ctx context.Context, age time.Duration, limit int) ([]screen.SessionKey, error) {
			return m.Expire(ctx, age+time.Microsecond, limit)
		}
	},
	"Expire ignores its limit": func(f *faulty, m *memory.Store) {
		f.expire = func(ctx context.Context, age time.Duration, limit int) ([]screen.SessionKey, error) {
			return m.Expire(ctx, age, 1<<30)
		}
	},
	"Expire names other sessions than it removes": func(f *faulty, m *memory.Store) {
		f.expire = func(ctx context.Context, age time.Duration, limit int) ([]screen.SessionKey, error) {
			list, err := m.Expire(ctx, age, limit)
			for i := range list {
				list[i].Account += "~"
			}
			return list, err
		}
	},
	"a listing skips sessions after its cursor": func(f *faulty, m *memory.Store) {
		f.list = func(ctx context.Context, account, userID string, after *store.Cursor, limit int) ([]*store.Session, error) {
			if after != nil {
				after = &store.Cursor{CreatedAt: after.CreatedAt, ID: after.ID + "~"}
			}
			return m.List(ctx, account, userID, after, limit)
		}
	},
	"a listing is ordered by ID alone": func(f *faulty, m *memory.Store) {
		f.list = func(ctx context.Context, account, userID string, after *store.Cursor, limit int) ([]*store.Session, error) {
			list, err := m.List(ctx, account, userID, after, limit)
			slices.SortFunc(list, func(a, b *store.Session) int { return strings.Compare(a.ID, b.ID) })
			return list, err
		}
	},
	"creations of one time are dated alike": func(f *faulty, m *memory.Store) {
		f.create = func(ctx context.Context, s *store.Session) error {
			if s.CreatedAt.IsZero() {
				s = s.Clone()
				s.CreatedAt = at2000000
			}
			return m.Create(ctx, s)
		}
	},
	"Delete returns nil for an unknown session": func(f *faulty, m *memory.Store) {
		f.delete = func(ctx context.Context, account, id string) error {
			if err := m.Delete(ctx, account, id); !errors.Is(err, store.ErrNotFound) {
				return err
			}
			return nil
		}
	},
	"Forget leaves the oldest session": func(f *faulty, m *memory.Store) {
		f.forget = func(ctx context.Context, account, userID string) (int, error) {
			list, err := m.List(ctx, account, userID, nil, 1<<30)
			if err != nil || len(list) < 20 {
				return m.Forget(ctx, account, userID)
			}
			for _, s := range list[:len(list)-1] {
				err = errors.Join(err, m.Delete(ctx, account, s.ID))
			}
			return len(list), err
		}
	},
	"removed audio can still be read": func(f *faulty, m *memory.Store) {
		var kept sync.Map // by reference
		f.put = func(ctx context.Context, r io.Reader) (string, error) {
			var data strings.Builder
			ref, err := m.Audio().Put(ctx, io.TeeReader(r, &data))
			kept.Store(ref, data.String())
			return ref, err
		}
		f.open = func(ctx context.Context, ref string) (io.ReadCloser, error) {
			if data, ok := kept.Load(ref); ok {
				return io.NopCloser(strings.NewReader(data.(string))), nil
			}
			return m.Audio().Open(ctx, ref)
		}
	},
	"audio that was cut short is kept": func(f *faulty, m *memory.Store) {
		f.put = func(ctx context.Context, r io.Reader) (string, error) {
			data, _ := io.ReadAll(r)
			return m.Audio().Put(ctx, strings.NewReader(string(data)))
		}
	},
	"Close does not wait": func(f *faulty, m *memory.Store) {
		f.close = func() error {
			go func() { _ = m.Close() }()
			return nil
		}
	},
	"a closed store can be read": func(f *faulty, m *memory.Store) {
		f.get = func(ctx context.Context, account, id string) (*store.Session, error) {
			s, err := m.Get(ctx, account, id)
			if errors.Is(err, store.ErrClosed) {
				return nil, store.ErrNotFound
			}
			return s, err
		}
	},
}
