package bolt

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// TestAFailingWriteFailsOnlyItsCall makes calls fail after they wrote, among others that
// share their transaction.
func TestAFailingWriteFailsOnlyItsCall(t *testing.T) {
	const calls = 64
	st := opened(t)
	broken := errors.New("broken")
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			err := st.group.do(func(b *batch) error {
				time.Sleep(100 * time.Microsecond) // so that others come to wait
				return b.write(func(tx *bbolt.Tx) error {
					if err := tx.Bucket(bucketMeta).Put(fmt.Appendf(nil, "call %d", i), nil); err != nil {
						return err
					}
					switch i % 8 {
					case 1:
						return broken
					case 2:
						panic("a page is damaged")
					}
					return nil
				})
			})
			want := map[int]error{1: broken, 2: ErrCorrupt}[i%8]
			if !errors.Is(err, want) {
				t.Errorf("call %d: got error %v, want %v", i, err, want)
			}
		})
	}
	all.Wait()
	err := st.view(func(tx *bbolt.Tx) error {
		for i := range calls {
			k, _ := tx.Bucket(bucketMeta).Cursor().Seek(fmt.Appendf(nil, "call %d", i))
			if stored, want := string(k) == fmt.Sprintf("call %d", i), i%8 != 1 && i%8 != 2; stored != want {
				t.Errorf("call %d: stored is %v, want %v", i, stored, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestACallThatDoesNotReturnAffectsNoOther shares batches among calls, some of which
// panic or end their goroutine. The other calls are stored, whichever call leads.
func TestACallThatDoesNotReturnAffectsNoOther(t *testing.T) {
	const calls = 64
	st := opened(t)
	var all sync.WaitGroup
	var panics, ends, unheard, unheardPanics atomic.Int32
	for i := range calls {
		all.Go(func() {
			returned := false
			defer func() {
				switch p := recover(); {
				case p == i && i%8 == 3:
					panics.Add(1)
				case p != nil:
					t.Errorf("call %d: it panicked with %v", i, p)
				case !returned && i%8 == 4:
					ends.Add(1)
				case !returned: // another call, which this goroutine led, ended it
					unheard.Add(1)
					if i%8 == 3 {
						unheardPanics.Add(1) // its own panic would have followed
					}
				}
			}()
			err := st.group.do(func(b *batch) error {
				time.Sleep(100 * time.Microsecond) // so that others come to wait
				switch i % 8 {
				case 3:
					panic(i)
				case 4:
					runtime.Goexit()
				}
				return b.write(func(tx *bbolt.Tx) error { return tx.Bucket(bucketMeta).Put(fmt.Appendf(nil, "call %d", i), nil) })
			})
			returned = true
			if err != nil {
				t.Errorf("call %d: %v", i, err)
			}
			_ = st.view(func(tx *bbolt.Tx) error {
				if k, _ := tx.Bucket(bucketMeta).Cursor().Seek(fmt.Appendf(nil, "call %d", i)); string(k) != fmt.Sprintf("call %d", i) {
					t.Errorf("call %d is not stored", i)
				}
				return nil
			})
		})
	}
	all.Wait()
	if panics.Load()+unheardPanics.Load() != calls/8 || ends.Load() != calls/8 {
		t.Errorf("%d callers panicked, %d were ended before they did, and %d ended, want %d that panic and %[4]d that end",
			panics.Load(), unheardPanics.Load(), ends.Load(), calls/8)
	}
	if n := unheard.Load(); n > calls/8 {
		t.Errorf("%d goroutines were ended by the call of another, want at most one for each such call", n)
	}
	if err := st.Create(t.Context(), sample()); err != nil {
		t.Errorf("Create afterwards: %v", err)
	}
}

// TestACommitThatFailsStoresNothing limits the size of the database, which bbolt reports
// as a full disk.
func TestACommitThatFailsStoresNothing(t *testing.T) {
	st := opened(t)
	s := sample()
	if err := st.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	st.db.MaxSize = 1
	large := make(map[string]float64)
	for i := range screen.MaxFeatures {
		large[fmt.Sprintf("%0100d", i)] = 1
	}
	_, err := st.Update(t.Context(), s.Account, s.ID, func(s *store.Session, _ time.Time) error { s.Features, s.Audio = large, ""; return nil })
	if err == nil {
		t.Fatal("got no error from a full disk")
	}
	got, err := st.Get(t.Context(), s.Account, s.ID)
	if err != nil || len(got.Features) != len(s.Features) || got.Audio != s.Audio {
		t.Errorf("got %d features and error %v, want the former %d", len(got.Features), err, len(s.Features))
	}
	st.db.MaxSize = 0
	if _, err := st.Update(t.Context(), s.Account, s.ID, func(s *store.Session, _ time.Time) error { s.Features = large; return nil }); err != nil {
		t.Errorf("after the fault: %v", err)
	}
}

// TestConcurrentCallsShareCommits counts the transactions of concurrent calls.
func TestConcurrentCallsShareCommits(t *testing.T) {
	const workers, each = 16, 20
	st := opened(t)
	before := st.Commits()
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() {
			for j := range each {
				s := sample()
				s.ID = fmt.Sprintf("%d.%d", i, j)
				if err := st.Create(t.Context(), s); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	// In the worst case every second commit is of a single call and the others are of
	// all, so commits stay well below two thirds of the calls.
	if got := st.Commits() - before; got > workers*each*2/3 {
		t.Errorf("got %d commits for %d calls, want them shared", got, workers*each)
	}
}

// TestASingleCallerCommitsAtOnce makes calls from one goroutine: each call that writes
// is one commit, and a call that writes nothing commits nothing.
func TestASingleCallerCommitsAtOnce(t *testing.T) {
	st := opened(t)
	s := sample()
	before := st.Commits()
	if err := st.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for range 9 {
		if _, err := st.Update(t.Context(), s.Account, s.ID, func(*store.Session, time.Time) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if got := st.Commits() - before; got != 10 {
		t.Errorf("got %d commits for 10 calls", got)
	}
	before = st.Commits()
	_, _ = st.Next(t.Context(), func(*store.Session, time.Time) error { return errors.New("refused") })
	_ = st.Create(t.Context(), s)
	if got := st.Commits() - before; got != 0 {
		t.Errorf("got %d commits for calls that stored nothing", got)
	}
}
