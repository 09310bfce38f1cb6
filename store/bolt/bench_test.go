package bolt_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// result returns a session as it is in the end: two scores and all features.
func result(i int) *store.Session {
	rnd := rand.New(rand.NewPCG(1, uint64(i)))
	created := time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC)
	s := &store.Session{
		Account: "clinic", ID: benchID(i), UserID: "patient", State: store.Succeeded, CreatedAt: created, UpdatedAt: created,
		Product: store.DepressionAnxiety, SubmittedAt: created, Features: map[string]float64{},
	}
	for j := range 100 {
		s.Features[fmt.Sprintf("feature.%d.mean", j)] = rnd.NormFloat64()
	}
	for _, c := range []models.Category{models.Depression, models.Anxiety} {
		score := models.Score{Category: c, Model: "linear", Version: "1", Probability: rnd.Float64(), Low: 0.1, High: 0.9, Decision: models.Negative, Coverage: 1}
		for j := range 20 {
			score.Contributions = append(score.Contributions, models.Contribution{
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

// BenchmarkUpdate compares acknowledged updates of sessions with what bbolt
// itself does on this disk: one transaction a call, or its own Batch.
func BenchmarkUpdate(b *testing.B) {
	const sessions = 1000
	for _, n := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("store/clients=%d", n), func(b *testing.B) {
			st, err := bolt.Open(filepath.Join(b.TempDir(), "test.db"), nil)
			if err != nil {
				b.Fatal(err)
			}
			defer st.Close()
			fillStore(b, st, sessions)
			before := st.Commits()
			clients(b, n, func(i int) error {
				_, err := st.Update(b.Context(), "clinic", benchID(i%sessions), func(s *store.Session) error { s.Attempts++; return nil })
				return err
			})
			b.ReportMetric(float64(b.N)/float64(st.Commits()-before), "calls/commit")
		})
		for name, update := range map[string]func(*bbolt.DB, func(*bbolt.Tx) error) error{"bbolt.Update": (*bbolt.DB).Update, "bbolt.Batch": (*bbolt.DB).Batch} {
			b.Run(fmt.Sprintf("%s/clients=%d", name, n), func(b *testing.B) {
				db, err := bbolt.Open(filepath.Join(b.TempDir(), "raw.db"), 0o600, nil)
				if err != nil {
					b.Fatal(err)
				}
				defer db.Close()
				record, err := json.Marshal(result(1)) // as large as what an update of the store writes, or larger
				if err != nil {
					b.Fatal(err)
				}
				record = record[:4000]
				put := func(tx *bbolt.Tx, i int) error {
					bucket, err := tx.CreateBucketIfNotExists([]byte("sessions"))
					if err != nil {
						return err
					}
					return bucket.Put([]byte(benchID(i%sessions)), record)
				}
				if err := db.Update(func(tx *bbolt.Tx) error {
					for i := range sessions {
						if err := put(tx, i); err != nil {
							return err
						}
					}
					return nil
				}); err != nil {
					b.Fatal(err)
				}
				clients(b, n, func(i int) error { return update(db, func(tx *bbolt.Tx) error { return put(tx, i) }) })
			})
		}
	}
}

// BenchmarkGet reads results from two goroutines a processor.
func BenchmarkGet(b *testing.B) {
	const sessions = 1000
	st, err := bolt.Open(filepath.Join(b.TempDir(), "test.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	fillStore(b, st, sessions)
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
				ref, err := st.PutAudio(b.Context(), bytes.NewReader(recording))
				return errors.Join(err, st.RemoveAudio(b.Context(), ref))
			})
		})
	}
}

// fillStore creates results.
func fillStore(tb testing.TB, st store.Store, n int) {
	var all sync.WaitGroup
	for worker := range 50 {
		all.Go(func() {
			for i := worker; i < n; i += 50 {
				if err := st.Create(tb.Context(), result(i)); err != nil {
					tb.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func benchID(i int) string { return fmt.Sprintf("%027d", i) }
