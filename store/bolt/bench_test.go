package bolt_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// result returns a session with its result: two scores and 100 features.
func result(i int) *store.Session {
	rnd := rand.New(rand.NewPCG(1, uint64(i)))
	created := time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC)
	s := &store.Session{
		Account: "clinic", ID: benchID(i), UserID: "patient", Status: screen.StatusSuccess, CreatedAt: created, UpdatedAt: created,
		Product: screen.DepressionAnxiety, SubmittedAt: created, Features: map[string]float64{},
	}
	for j := range 100 {
		s.Features[fmt.Sprintf("feature.%d.mean", j)] = rnd.NormFloat64()
	}
	for _, c := range []screen.Category{screen.Depression, screen.Anxiety} {
		score := screen.Score{Category: c, Model: "linear", Version: "1", Probability: rnd.Float64(), Low: 0.1, High: 0.9, Decision: screen.Negative, Coverage: 1}
		for j := range 20 {
			score.Contributions = append(score.Contributions, screen.Contribution{
				Feature: fmt.Sprintf("feature.%d.mean", j), Value: rnd.NormFloat64(), Unit: "Hz", Logits: rnd.NormFloat64(),
			})
		}
		s.Scores = append(s.Scores, score)
	}
	return s
}

// clients calls f from n goroutines b.N times in all, and reports calls/s.
func clients(b *testing.B, n int, f func(i int) error) {
	var calls sync.WaitGroup
	var next atomic.Int64
	b.ResetTimer()
	for range n {
		calls.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := f(int(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	calls.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

// BenchmarkUpdate compares acknowledged updates of sessions with bbolt itself, which
// puts records of the same size. It alternates between the two on the same disk, since
// the speed of a disk varies from second to second. Bbolt commits in its fastest way
// for each number of clients: a plain transaction for one, and for several its Batch
// with MaxBatchSize set to their number. Bbolt only puts a record under its key. The
// store reads, checks, changes and encodes a session in each call, and keeps indexes.
// For one client the benchmark also makes the same change in a plain transaction.
//
// Waiting sessions have no result. Of sessions with a result the store writes the
// record that changed, and bbolt both, some 4 KB. Completed sessions get a new result
// each time, which the store writes too.
func BenchmarkUpdate(b *testing.B) {
	attempt := func(s *store.Session, _ time.Time) error { s.Attempts++; return nil }
	scores := result(1)
	complete := func(s *store.Session, _ time.Time) error {
		s.Scores, s.Features = scores.Scores, scores.Features
		return attempt(s, time.Time{})
	}
	for _, n := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("waiting/clients=%d", n), func(b *testing.B) { benchUpdate(b, n, initiated, attempt) })
		b.Run(fmt.Sprintf("result/clients=%d", n), func(b *testing.B) { benchUpdate(b, n, result, attempt) })
		b.Run(fmt.Sprintf("completed/clients=%d", n), func(b *testing.B) { benchUpdate(b, n, result, complete) })
	}
}

func benchUpdate(b *testing.B, n int, session func(i int) *store.Session, change store.Change) {
	st := compacted(b, session)
	size := bolt.RecordSize(session(1))
	put, db := openRaw(b, benchSessions, func(tx *bbolt.Tx, i int) error {
		return tx.Bucket(rawSessions).Put([]byte(benchID(i%benchSessions)), make([]byte, size))
	})
	s := sideBySide{n: n, store: st, raw: batches(db, n), put: put}
	s.call = func(i int) error {
		_, err := st.Update(b.Context(), "clinic", benchID(i%benchSessions), change)
		return err
	}
	if n == 1 {
		s.plain = func(i int) error { return st.PlainUpdate("clinic", benchID(i%benchSessions), change) }
	}
	s.run(b)
}

// BenchmarkCreate compares the creation of sessions with bbolt, as BenchmarkUpdate
// does. The store writes three records for each: the session and its entries in the
// indexes of users and of retention. Bbolt puts records of the same sizes.
func BenchmarkCreate(b *testing.B) {
	size := bolt.RecordSize(initiated(1))
	for _, n := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("clients=%d", n), func(b *testing.B) {
			put, db := openRaw(b, benchSessions, func(tx *bbolt.Tx, i int) error {
				id := benchID(i)
				account := strings.Repeat("a", sha256.Size)
				primary := append([]byte{byte(len(id))}, id+account...)
				created := binary.BigEndian.AppendUint64(nil, uint64(i))
				return errors.Join(
					tx.Bucket(rawSessions).Put(primary, make([]byte, size)),
					tx.Bucket(rawUsers).Put(append([]byte(account), append(created, id...)...), primary),
					tx.Bucket(rawKept).Put(append(created, primary...), nil),
				)
			})
			st, session := compacted(b, initiated), initiated(1)
			sideBySide{n: n, store: st, raw: batches(db, n), put: put, call: func(i int) error {
				s := *session
				s.ID = benchID(benchSessions + i)
				s.CreatedAt = s.CreatedAt.Add(time.Duration(benchSessions+i) * time.Second)
				s.UpdatedAt = s.CreatedAt
				return st.Create(b.Context(), &s)
			}}.run(b)
		})
	}
}

// batches returns the fastest way in which n clients commit with bbolt alone.
func batches(db *bbolt.DB, n int) func(func(*bbolt.Tx) error) error {
	if n == 1 {
		return db.Update
	}
	db.MaxBatchSize = n // Batch commits when all clients have called, or after 10 ms
	return db.Batch
}

// sideBySide makes b.N calls of a store and of bbolt from n clients.
type sideBySide struct {
	n     int
	store *bolt.Store
	call  func(i int) error
	plain func(i int) error // call in a plain transaction; may be nil
	raw   func(func(*bbolt.Tx) error) error
	put   func(i int) func(*bbolt.Tx) error
}

func (s sideBySide) run(b *testing.B) {
	const turn = 128 // calls of a client; chosen: 40 times as many as clients need to get in step, and some 50 ms
	var engine, plain, raw timed
	commits := 0
	runs := []func(calls int){
		func(calls int) {
			before := s.store.Commits()
			engine.run(b, s.n, calls, s.call)
			commits += s.store.Commits() - before
		},
		func(calls int) { raw.run(b, s.n, calls, func(i int) error { return s.raw(s.put(i)) }) },
	}
	if s.plain != nil {
		runs = append(runs, func(calls int) { plain.run(b, s.n, calls, s.plain) })
	}
	b.ResetTimer()
	rnd := rand.New(rand.NewPCG(1, 2)) // random order: a run after one of the other database is some 3 % slower
	for done := 0; done < b.N; done += s.n * turn {
		for _, i := range rnd.Perm(len(runs)) {
			runs[i](min(s.n*turn, b.N-done))
		}
	}
	b.ReportMetric(0, "ns/op") // meaningless for all together
	b.ReportMetric(engine.rate(), "store-calls/s")
	b.ReportMetric(raw.rate(), "bbolt-calls/s")
	b.ReportMetric(engine.rate()/raw.rate(), "store/bbolt")
	b.ReportMetric(engine.median(), "store-p50-µs")
	b.ReportMetric(raw.median(), "bbolt-p50-µs")
	b.ReportMetric(float64(b.N)/float64(commits), "calls/commit")
	if s.plain != nil {
		b.ReportMetric(plain.median(), "plain-p50-µs")
	}
}

// compacted returns a store of sessions without free pages. The database of openRaw has
// none either: in both, pages of one commit are adjacent on the disk.
func compacted(b *testing.B, session func(i int) *store.Session) *bolt.Store {
	path := filepath.Join(b.TempDir(), "test.db")
	st, err := bolt.Open(path, nil)
	if err != nil {
		b.Fatal(err)
	}
	fillStore(b, st, benchSessions, session)
	if err := st.Close(); err != nil {
		b.Fatal(err)
	}
	if _, _, err := bolt.Compact(path, nil); err != nil {
		b.Fatal(err)
	}
	if st, err = bolt.Open(path, nil); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = st.Close() })
	return st
}

// benchSessions is the number of sessions that are updated. Chosen: a few MB.
const benchSessions = 1000

// BenchmarkBbolt measures bbolt with its default options for several clients: a
// transaction for each call, or Batch.
func BenchmarkBbolt(b *testing.B) {
	record := make([]byte, bolt.RecordSize(initiated(1)))
	for _, n := range []int{8, 64} {
		put, db := openRaw(b, benchSessions, func(tx *bbolt.Tx, i int) error {
			return tx.Bucket(rawSessions).Put([]byte(benchID(i%benchSessions)), record)
		})
		for name, commit := range map[string]func(func(*bbolt.Tx) error) error{"update": db.Update, "batch": db.Batch} {
			b.Run(fmt.Sprintf("%s/clients=%d", name, n), func(b *testing.B) {
				clients(b, n, func(i int) error { return commit(put(i)) })
			})
		}
	}
}

// The buckets of openRaw.
var rawSessions, rawUsers, rawKept = []byte("sessions"), []byte("users"), []byte("kept")

// openRaw returns a bbolt database after n calls of put, and a function that calls put
// with the numbers after n.
func openRaw(b *testing.B, n int, put func(tx *bbolt.Tx, i int) error) (func(i int) func(tx *bbolt.Tx) error, *bbolt.DB) {
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "raw.db"), 0o600, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	err = db.Update(func(tx *bbolt.Tx) (err error) {
		for _, name := range [][]byte{rawSessions, rawUsers, rawKept} {
			_, e := tx.CreateBucket(name)
			err = errors.Join(err, e)
		}
		for i := range n {
			err = errors.Join(err, put(tx, i))
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return func(i int) func(tx *bbolt.Tx) error {
		return func(tx *bbolt.Tx) error { return put(tx, n+i) }
	}, db
}

// timed collects the durations of calls.
type timed struct {
	calls []time.Duration
	took  time.Duration
}

// run calls f from n goroutines, so many times in all. The numbers continue from one
// run to the next.
func (t *timed) run(b *testing.B, n, calls int, f func(i int) error) {
	first := len(t.calls)
	t.calls = append(t.calls, make([]time.Duration, calls)...)
	var next atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for range n {
		all.Go(func() {
			for i := first + int(next.Add(1)) - 1; i < len(t.calls); i = first + int(next.Add(1)) - 1 {
				began := time.Now()
				if err := f(i); err != nil {
					b.Error(err)
					return
				}
				t.calls[i] = time.Since(began)
			}
		})
	}
	all.Wait()
	t.took += time.Since(began)
}

// rate is the number of calls a second.
func (t *timed) rate() float64 { return float64(len(t.calls)) / t.took.Seconds() }

// median is the median duration of a call, in microseconds.
func (t *timed) median() float64 {
	slices.Sort(t.calls)
	return float64(t.calls[len(t.calls)/2].Nanoseconds()) / 1e3
}

// BenchmarkGet reads results from two goroutines a processor.
func BenchmarkGet(b *testing.B) {
	const sessions = 1000
	st, err := bolt.Open(filepath.Join(b.TempDir(), "test.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	fillStore(b, st, sessions, result)
	clients(b, 2*runtime.GOMAXPROCS(0), func(i int) error {
		_, err := st.Get(b.Context(), "clinic", benchID(i%sessions))
		return err
	})
}

// BenchmarkPutAudio stores recordings of 30 s, 16 bits at 44.1 kHz.
func BenchmarkPutAudio(b *testing.B) {
	recording := make([]byte, 30*44100*2)
	for _, n := range []int{1, 8} {
		b.Run(fmt.Sprintf("clients=%d", n), func(b *testing.B) {
			st, err := bolt.Open(filepath.Join(b.TempDir(), "test.db"), nil)
			if err != nil {
				b.Fatal(err)
			}
			defer st.Close()
			b.SetBytes(int64(len(recording)))
			b.ReportAllocs()
			clients(b, n, func(int) error {
				ref, err := st.Audio().Put(b.Context(), bytes.NewReader(recording))
				return errors.Join(err, st.Audio().Remove(b.Context(), ref))
			})
		})
	}
}

// fillStore creates sessions.
func fillStore(tb testing.TB, st store.Store, n int, session func(i int) *store.Session) {
	var all sync.WaitGroup
	for worker := range 50 {
		all.Go(func() {
			for i := worker; i < n; i += 50 {
				if err := st.Create(tb.Context(), session(i)); err != nil {
					tb.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func benchID(i int) string { return fmt.Sprintf("%027d", i) }
