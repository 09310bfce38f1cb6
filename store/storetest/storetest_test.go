package storetest_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/memory"
	"github.com/voicescreen/voicescreen/store/storetest"
)

// faulty is a store that is right but for the calls a fault replaces.
type faulty struct {
	*memory.Store
	create func(ctx context.Context, s *store.Session) error
	get    func(ctx context.Context, account, id string) (*store.Session, error)
	update func(ctx context.Context, account, id string, change func(*store.Session) error) (*store.Session, error)
	next   func(ctx context.Context, now time.Time, change func(*store.Session) error) (*store.Session, error)
	list   func(ctx context.Context, account, userID string, after *store.Cursor, limit int) ([]*store.Session, error)
	notice func(ctx context.Context, account string, now time.Time, change func(*store.Session) error) (*store.Session, error)
	expire func(ctx context.Context, before time.Time, limit int) ([]screen.SessionKey, error)
	delete func(ctx context.Context, account, id string) error
	forget func(ctx context.Context, account, userID string) (int, error)
	put    func(ctx context.Context, r io.Reader) (string, error)
	open   func(ctx context.Context, ref string) (io.ReadCloser, error)
	close  func() error
}

type change = func(*store.Session) error

func (f *faulty) Create(ctx context.Context, s *store.Session) error { return f.create(ctx, s) }
func (f *faulty) Get(ctx context.Context, account, id string) (*store.Session, error) {
	return f.get(ctx, account, id)
}
func (f *faulty) Update(ctx context.Context, account, id string, c func(*store.Session) error) (*store.Session, error) {
	return f.update(ctx, account, id, c)
}
func (f *faulty) Next(ctx context.Context, now time.Time, c func(*store.Session) error) (*store.Session, error) {
	return f.next(ctx, now, c)
}
func (f *faulty) List(ctx context.Context, account, userID string, after *store.Cursor, limit int) ([]*store.Session, error) {
	return f.list(ctx, account, userID, after, limit)
}
func (f *faulty) NextNotice(ctx context.Context, account string, now time.Time, c func(*store.Session) error) (*store.Session, error) {
	return f.notice(ctx, account, now, c)
}
func (f *faulty) Expire(ctx context.Context, before time.Time, limit int) ([]screen.SessionKey, error) {
	return f.expire(ctx, before, limit)
}
func (f *faulty) Delete(ctx context.Context, account, id string) error {
	return f.delete(ctx, account, id)
}
func (f *faulty) Forget(ctx context.Context, account, userID string) (int, error) {
	return f.forget(ctx, account, userID)
}
func (f *faulty) PutAudio(ctx context.Context, r io.Reader) (string, error) { return f.put(ctx, r) }
func (f *faulty) OpenAudio(ctx context.Context, ref string) (io.ReadCloser, error) {
	return f.open(ctx, ref)
}
func (f *faulty) Close() error { return f.close() }

func newFaulty() *faulty {
	m := memory.New()
	return &faulty{m, m.Create, m.Get, m.Update, m.Next, m.List, m.NextNotice, m.Expire, m.Delete, m.Forget, m.PutAudio, m.OpenAudio, m.Close}
}

// faults are planted one at a time. Each breaks one promise.
var faults = map[string]func(f *faulty, m *memory.Store){
	"an ID is taken only in its account": func(f *faulty, m *memory.Store) {
		f.create = func(ctx context.Context, s *store.Session) error {
			err := m.Create(ctx, s)
			if _, found := m.Get(ctx, s.Account, s.ID); errors.Is(err, store.ErrExists) && found != nil {
				return nil
			}
			return err
		}
	},
	"a session is remembered that was refused": func(f *faulty, m *memory.Store) {
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
	"undefined numbers come back as 0": func(f *faulty, m *memory.Store) {
		f.get = func(ctx context.Context, account, id string) (*store.Session, error) {
			s, err := m.Get(ctx, account, id)
			if err == nil {
				for name, x := range s.Features {
					if math.IsNaN(x) {
						s.Features[name] = 0
					}
				}
			}
			return s, err
		}
	},
	"records come out by reference": func(f *faulty, m *memory.Store) {
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
	"updates are read and written apart": func(f *faulty, m *memory.Store) {
		f.update = func(ctx context.Context, account, id string, c change) (*store.Session, error) {
			after, err := m.Get(ctx, account, id)
			if err != nil {
				return nil, err
			}
			if err := c(after); err != nil {
				return nil, err
			}
			time.Sleep(time.Millisecond)
			return m.Update(ctx, account, id, func(s *store.Session) error { *s = *after; return nil })
		}
	},
	"the error of change is wrapped": func(f *faulty, m *memory.Store) {
		f.update = func(ctx context.Context, account, id string, c change) (*store.Session, error) {
			s, err := m.Update(ctx, account, id, c)
			if err != nil {
				err = errors.Join(err)
			}
			return s, err
		}
	},
	"a change that fails is stored": func(f *faulty, m *memory.Store) {
		f.update = func(ctx context.Context, account, id string, c change) (*store.Session, error) {
			var failed error
			s, err := m.Update(ctx, account, id, func(s *store.Session) error {
				before := s.Clone()
				if failed = c(s); failed != nil && s.CheckChange(before) != nil {
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
	"Next takes what is not yet due": func(f *faulty, m *memory.Store) {
		f.next = func(ctx context.Context, now time.Time, c change) (*store.Session, error) {
			return m.Next(ctx, now.Add(time.Nanosecond), c)
		}
	},
	"Next hands a session out twice": func(f *faulty, m *memory.Store) {
		var mu sync.Mutex
		var last *store.Session
		f.next = func(ctx context.Context, now time.Time, c change) (*store.Session, error) {
			mu.Lock()
			again := last
			last = nil
			mu.Unlock()
			if again != nil {
				return again, c(again)
			}
			return m.Next(ctx, now, func(s *store.Session) error {
				before := s.Clone()
				err := c(s)
				mu.Lock()
				defer mu.Unlock()
				last = before
				return err
			})
		}
	},
	"NextNotice takes those of every account": func(f *faulty, m *memory.Store) {
		f.notice = func(ctx context.Context, account string, now time.Time, c change) (*store.Session, error) {
			for _, account := range []string{account, "", "a", "b"} {
				if s, err := m.NextNotice(ctx, account, now, c); !errors.Is(err, store.ErrNoneDue) {
					return s, err
				}
			}
			return nil, store.ErrNoneDue
		}
	},
	"a notice may stay as it was": func(f *faulty, m *memory.Store) {
		f.notice = func(ctx context.Context, account string, now time.Time, c change) (*store.Session, error) {
			return m.NextNotice(ctx, account, now, func(s *store.Session) error {
				before := s.Notify
				err := c(s)
				if s.Notify.Equal(before) {
					s.Notify = before.Add(1)
				}
				return err
			})
		}
	},
	"Expire leaves what is kept since the very time": func(f *faulty, m *memory.Store) {
		f.expire = func(ctx context.Context, before time.Time, limit int) ([]screen.SessionKey, error) {
			return m.Expire(ctx, before.Add(-1), limit)
		}
	},
	"Expire knows no limit": func(f *faulty, m *memory.Store) {
		f.expire = func(ctx context.Context, before time.Time, limit int) ([]screen.SessionKey, error) {
			return m.Expire(ctx, before, 1<<30)
		}
	},
	"Expire names other sessions than it removes": func(f *faulty, m *memory.Store) {
		f.expire = func(ctx context.Context, before time.Time, limit int) ([]screen.SessionKey, error) {
			list, err := m.Expire(ctx, before, limit)
			for i := range list {
				list[i].Account += "~"
			}
			return list, err
		}
	},
	"a listing is not behind its cursor": func(f *faulty, m *memory.Store) {
		f.list = func(ctx context.Context, account, userID string, after *store.Cursor, limit int) ([]*store.Session, error) {
			if after != nil {
				after = &store.Cursor{CreatedAt: after.CreatedAt, ID: after.ID + "~"}
			}
			return m.List(ctx, account, userID, after, limit)
		}
	},
	"a listing goes by ID alone": func(f *faulty, m *memory.Store) {
		f.list = func(ctx context.Context, account, userID string, after *store.Cursor, limit int) ([]*store.Session, error) {
			list, err := m.List(ctx, account, userID, after, limit)
			slices.SortFunc(list, func(a, b *store.Session) int { return strings.Compare(a.ID, b.ID) })
			return list, err
		}
	},
	"Delete does not say that there was nothing": func(f *faulty, m *memory.Store) {
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
			ref, err := m.PutAudio(ctx, io.TeeReader(r, &data))
			kept.Store(ref, data.String())
			return ref, err
		}
		f.open = func(ctx context.Context, ref string) (io.ReadCloser, error) {
			if data, ok := kept.Load(ref); ok {
				return io.NopCloser(strings.NewReader(data.(string))), nil
			}
			return m.OpenAudio(ctx, ref)
		}
	},
	"audio that was cut short is kept": func(f *faulty, m *memory.Store) {
		f.put = func(ctx context.Context, r io.Reader) (string, error) {
			data, _ := io.ReadAll(r)
			return m.PutAudio(ctx, strings.NewReader(string(data)))
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

// fault names the one to plant. It is set when the tests run themselves.
var fault = flag.String("fault", "", "run the suite on a store with this fault")

// TestSuite runs the suite on a right store, or on one with a fault.
func TestSuite(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store {
		f := newFaulty()
		if *fault != "" {
			faults[*fault](f, f.Store)
		}
		return f
	})
}

// TestFaultsAreFound runs the suite once for each fault, in a process of its
// own since a test that fails cannot be taken back.
func TestFaultsAreFound(t *testing.T) {
	if *fault != "" {
		return // this is such a process
	}
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSuite$", "-test.failfast", "-test.timeout=60s",
				"-rapid.shrinktime=0s", "-rapid.nofailfile", "-fault="+name)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || !strings.Contains(string(out), "--- FAIL: TestSuite/") {
				t.Errorf("the suite did not find the fault: %v\n%s", err, out)
			}
		})
	}
}
