package voicescreen_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// faultyStore is a store that is right but for what replaces its calls.
type faultyStore struct {
	store.Store
	get    func(account, id string) (*store.Session, error)
	update func(account, id string, change store.Change) (*store.Session, error)
	next   func(change store.Change) (*store.Session, error)
	list   func(list []*store.Session) []*store.Session
	expire func(age time.Duration, limit int) ([]screen.SessionKey, error)
	forget func(account, userID string) (int, error)
	keep   bool // audio that was let go of
}

func (f *faultyStore) Get(ctx context.Context, account, id string) (*store.Session, error) {
	if f.get != nil {
		return f.get(account, id)
	}
	return f.Store.Get(ctx, account, id)
}

func (f *faultyStore) Head(ctx context.Context, account, id string) (*store.Session, error) {
	if f.get != nil {
		return f.get(account, id)
	}
	return f.Store.Head(ctx, account, id)
}

func (f *faultyStore) Update(ctx context.Context, account, id string, change store.Change) (*store.Session, error) {
	if f.update != nil {
		return f.update(account, id, change)
	}
	return f.Store.Update(ctx, account, id, change)
}

func (f *faultyStore) Next(ctx context.Context, change store.Change) (*store.Session, error) {
	if f.next != nil {
		return f.next(change)
	}
	return f.Store.Next(ctx, change)
}

func (f *faultyStore) List(ctx context.Context, account, userID string, after *store.Cursor, limit int) ([]*store.Session, error) {
	list, err := f.Store.List(ctx, account, userID, after, limit)
	if f.list != nil {
		list = f.list(list)
	}
	return list, err
}

func (f *faultyStore) Expire(ctx context.Context, age time.Duration, limit int) ([]screen.SessionKey, error) {
	if f.expire != nil {
		return f.expire(age, limit)
	}
	return f.Store.Expire(ctx, age, limit)
}

func (f *faultyStore) Forget(ctx context.Context, account, userID string) (int, error) {
	if f.forget != nil {
		return f.forget(account, userID)
	}
	return f.Store.Forget(ctx, account, userID)
}

func (f *faultyStore) Audio() store.Audio {
	audio := hookedAudio{Audio: f.Store.Audio()}
	if f.keep {
		audio.remove = func(context.Context, string) error { return nil }
	}
	return audio
}

// hookedAudio is store.Audio but for what replaces its calls.
type hookedAudio struct {
	store.Audio
	put    func(ctx context.Context, r io.Reader) (string, error)
	remove func(ctx context.Context, ref string) error
}

func (a hookedAudio) Put(ctx context.Context, r io.Reader) (string, error) {
	if a.put != nil {
		return a.put(ctx, r)
	}
	return a.Audio.Put(ctx, r)
}

func (a hookedAudio) Remove(ctx context.Context, ref string) error {
	if a.remove != nil {
		return a.remove(ctx, ref)
	}
	return a.Audio.Remove(ctx, ref)
}

// faultClock is that of the history, for faults in time.
var faultClock *clock

// faults are planted one at a time, each in a store that is right otherwise.
// Those of the store stand for those of the engine that would have the same
// effect: what a change is shown is what its check sees.
var faults = map[string]func(store.Store) store.Store{
	"two submissions win": onUpdate(func(s *store.Session, now time.Time, change store.Change) error {
		if s.Status == screen.StatusProcessing && !s.Leased() {
			s.Status = screen.StatusInitiated
		}
		return change(s, now)
	}),
	"the feedback window is not checked": onUpdate(func(s *store.Session, now time.Time, change store.Change) error {
		submitted := s.SubmittedAt
		if s.Status.Final() {
			s.SubmittedAt = s.SubmittedAt.Add(1000 * time.Hour)
		}
		err := change(s, now)
		if s.Status.Final() {
			s.SubmittedAt = submitted
		}
		return err
	}),
	"a label is lost when another one comes": onUpdate(func(s *store.Session, now time.Time, change store.Change) error {
		err := change(s, now)
		if s.Labels.PHQ9 != nil {
			s.Labels.GAD7 = nil
		}
		return err
	}),
	"a notice is lost": onUpdate(func(s *store.Session, now time.Time, change store.Change) error {
		err := change(s, now)
		if s.Status == screen.StatusFailed {
			s.Notify = time.Time{}
		}
		return err
	}),
	"the token of a lease is not checked": func(st store.Store) store.Store {
		type lease struct {
			id    string
			token uint64
		}
		owners := map[lease]string{}
		return &faultyStore{
			Store: st,
			next: func(change store.Change) (*store.Session, error) {
				s, err := st.Next(context.Background(), change)
				if err == nil {
					owners[lease{s.ID, s.Token}] = s.Owner
				}
				return s, err
			},
			update: func(account, id string, change store.Change) (*store.Session, error) {
				return st.Update(context.Background(), account, id, func(s *store.Session, now time.Time) error {
					whole := *s
					err := change(s, now)
					for ; err != nil && whole.Leased() && s.Token > 1; err = change(s, now) { // as one who held it before
						token := s.Token - 1
						*s = whole
						s.Token, s.Owner = token, owners[lease{id, token}]
					}
					return err
				})
			},
		}
	},
	"a session is read as it was before": func(st store.Store) store.Store {
		before := map[string]*store.Session{}
		return &faultyStore{
			Store: st,
			get: func(account, id string) (*store.Session, error) {
				s, err := st.Get(context.Background(), account, id)
				if old := before[id]; err == nil && old != nil {
					s = old.Clone()
				}
				return s, err
			},
			update: func(account, id string, change store.Change) (*store.Session, error) {
				return st.Update(context.Background(), account, id, func(s *store.Session, now time.Time) error {
					before[id] = s.Clone()
					return change(s, now)
				})
			},
		}
	},
	"a lease is taken too early": func(st store.Store) store.Store {
		return &faultyStore{Store: st, next: func(change store.Change) (*store.Session, error) {
			faultClock.Add(time.Millisecond)
			defer faultClock.Add(-time.Millisecond)
			return st.Next(context.Background(), func(s *store.Session, now time.Time) error {
				return change(s, now.Add(-time.Millisecond))
			})
		}}
	},
	"attempts are not counted": func(st store.Store) store.Store {
		return &faultyStore{Store: st, next: func(change store.Change) (*store.Session, error) {
			return st.Next(context.Background(), func(s *store.Session, now time.Time) error {
				s.Attempts = min(s.Attempts, 1)
				return change(s, now)
			})
		}}
	},
	"a listing hides sessions of one second": func(st store.Store) store.Store {
		return &faultyStore{Store: st, list: func(list []*store.Session) []*store.Session {
			return slices.CompactFunc(list, func(a, b *store.Session) bool {
				return a.CreatedAt.Truncate(time.Second).Equal(b.CreatedAt.Truncate(time.Second))
			})
		}}
	},
	"results expire early": func(st store.Store) store.Store {
		return &faultyStore{Store: st, expire: func(age time.Duration, limit int) ([]screen.SessionKey, error) {
			return st.Expire(context.Background(), age-time.Second, limit)
		}}
	},
	"a session of a forgotten user stays": func(st store.Store) store.Store {
		return &faultyStore{Store: st, forget: func(account, userID string) (int, error) {
			list, err := st.List(context.Background(), account, userID, nil, 100)
			for _, s := range list[:max(len(list)-1, 0)] {
				err = errors.Join(err, st.Delete(context.Background(), account, s.ID))
			}
			return len(list), err
		}}
	},
	"audio of a refused submission stays": func(st store.Store) store.Store { return &faultyStore{Store: st, keep: true} },
	"audio is cut short":                  func(st store.Store) store.Store { return &cutStore{st} },
}

// onUpdate is a fault of the changes that Update makes.
func onUpdate(fault func(s *store.Session, now time.Time, change store.Change) error) func(store.Store) store.Store {
	return func(st store.Store) store.Store {
		return &faultyStore{Store: st, update: func(account, id string, change store.Change) (*store.Session, error) {
			return st.Update(context.Background(), account, id, func(s *store.Session, now time.Time) error { return fault(s, now, change) })
		}}
	}
}

// cutStore loses the last byte of audio.
type cutStore struct{ store.Store }

func (st *cutStore) Audio() store.Audio {
	audio := st.Store.Audio()
	return hookedAudio{Audio: audio, put: func(ctx context.Context, r io.Reader) (string, error) {
		b, err := io.ReadAll(r)
		if err != nil {
			return "", err
		}
		return audio.Put(ctx, strings.NewReader(string(b[:len(b)-1])))
	}}
}

// TestHistoriesFindFaults runs the histories once for each fault, in a process
// of its own since a test that fails cannot be taken back.
func TestHistoriesFindFaults(t *testing.T) {
	if *fault != "" {
		return // this is such a process
	}
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		t.Run(name, func(t *testing.T) { wantFault(t, "TestHistories", name) })
	}
}

// wantFault runs a test with a fault, which it must find, beside others.
func wantFault(t *testing.T, test, fault string, flags ...string) {
	t.Helper()
	t.Parallel()
	flags = append(flags, "-test.run=^"+test+"$", "-test.failfast", "-test.timeout=120s", "-rapid.checks=200", "-rapid.shrinktime=0s", "-rapid.nofailfile", "-fault="+fault)
	cmd := exec.CommandContext(t.Context(), os.Args[0], flags...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !strings.Contains(string(out), "--- FAIL: "+test) {
		t.Errorf("%s did not find the fault: %v\n%s", test, err, out)
	}
}
