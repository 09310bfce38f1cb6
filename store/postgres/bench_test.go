package postgres_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/postgres"
)

// benchClients is how many goroutines call at once. Chosen: as many as the pool
// has connections by default.
const benchClients = 16

// bench measures the store beside a bare pgx program that sends the same
// statements, in turns of some calls each on the same tables, and reports calls a
// second of both and their ratio. Setup makes what n calls need.
func bench(b *testing.B, st *postgres.Store, url string, setup func(b *testing.B, n int) (ours, bare func(ctx context.Context, pool *pgxpool.Pool, i int) error)) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		b.Fatal(err)
	}
	config.MaxConns = benchClients
	pool, err := pgxpool.NewWithConfig(b.Context(), config)
	if err != nil {
		b.Fatal(err)
	}
	defer pool.Close()
	const turns = 8
	n := max(b.N, benchClients*turns)
	ours, bare := setup(b, n)
	var took [2]time.Duration
	b.ResetTimer()
	for turn := range turns {
		for i, call := range []func(ctx context.Context, pool *pgxpool.Pool, i int) error{ours, bare} {
			begin := time.Now()
			inTurns(b, turn*n/turns, (turn+1)*n/turns, func(i int) error { return call(b.Context(), pool, i) })
			took[i] += time.Since(begin)
		}
	}
	b.ReportMetric(float64(n)/took[0].Seconds(), "calls/s")
	b.ReportMetric(float64(n)/took[1].Seconds(), "bare/s")
	b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "ratio")
}

// inTurns calls f(from) to f(to-1) from benchClients goroutines.
func inTurns(b *testing.B, from, to int, f func(i int) error) {
	var next atomic.Int64
	next.Store(int64(from))
	var all sync.WaitGroup
	for range benchClients {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(to); i = next.Add(1) - 1 {
				if err := f(int(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// waiting returns a session that waits to be analysed.
func waiting(id string, due time.Time) *store.Session {
	return &store.Session{
		Account: "clinic", ID: id, UserID: fmt.Sprintf("patient %d", rand.IntN(1000)), Status: screen.StatusProcessing,
		Product: screen.DepressionAnxiety, Metadata: screen.Metadata{Age: 42, Gender: screen.Female}, Due: due, SubmittedAt: due,
	}
}

// bareColumns are those that a bare program reads and writes: all but the analysis.
const bareColumns = `id, account, user_id, metadata, status, created_at, updated_at, product, submitted_at, audio,
	channel, fixed_gain, baseline, due, owner, token, attempts, failure, labels, notify, notices, duration, analysed, speech`

func BenchmarkCreate(b *testing.B) {
	url := database(b)
	st := open(b, url, nil)
	defer st.Close()
	bench(b, st, url, func(b *testing.B, n int) (ours, bare func(ctx context.Context, pool *pgxpool.Pool, i int) error) {
		return func(ctx context.Context, _ *pgxpool.Pool, i int) error {
				return st.Create(ctx, waiting(fmt.Sprint("ours ", i), time.Time{}))
			}, func(ctx context.Context, pool *pgxpool.Pool, i int) error {
				s := waiting(fmt.Sprint("bare ", i), time.Time{})
				_, err := pool.Exec(ctx, `
					INSERT INTO voicescreen.sessions (`+bareColumns+`)
					VALUES ($1, $2, $3, $4, $5, clock_timestamp(), clock_timestamp(), $6, NULL, '', 0, false, false, NULL, '', 0, 0, NULL, NULL, NULL, 0, 0, 0, '')
					ON CONFLICT (id) DO NOTHING`,
					s.ID, s.Account, s.UserID, `{"age": 42, "gender": "Female"}`, s.Status.String(), s.Product.String())
				return err
			}
	})
}

// scanned reads the columns of bareColumns.
func scanned(row pgx.Row) (id string, attempts int, err error) {
	var text [8]string
	var metadata, failure, labels []byte
	var times [6]*time.Time
	var numbers [3]int
	var flags [2]bool
	var seconds [2]float64
	err = row.Scan(&id, &text[0], &text[1], &metadata, &text[2], &times[0], &times[1], &text[3], &times[2], &text[4],
		&numbers[0], &flags[0], &flags[1], &times[3], &text[5], &numbers[1], &attempts, &failure, &labels, &times[4], &numbers[2], &seconds[0], &seconds[1], &text[7])
	return id, attempts, err
}

// bareChange is a transaction as a bare program has it.
func bareChange(ctx context.Context, pool *pgxpool.Pool, lock, set string, args ...any) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		id, attempts, err := scanned(tx.QueryRow(ctx, `SELECT `+bareColumns+` FROM voicescreen.sessions `+lock, args...))
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE voicescreen.sessions SET `+set+` WHERE id = $1`, id, attempts+1)
		return err
	})
}

func BenchmarkUpdate(b *testing.B) {
	url := database(b)
	st := open(b, url, nil)
	defer st.Close()
	bench(b, st, url, func(b *testing.B, n int) (ours, bare func(ctx context.Context, pool *pgxpool.Pool, i int) error) {
		const sessions = 1000
		for i := range sessions {
			if err := st.Create(b.Context(), waiting(fmt.Sprint(i), time.Time{})); err != nil {
				b.Fatal(err)
			}
		}
		return func(ctx context.Context, _ *pgxpool.Pool, i int) error {
				_, err := st.Update(ctx, "clinic", fmt.Sprint(i%sessions), attempt)
				return err
			}, func(ctx context.Context, pool *pgxpool.Pool, i int) error {
				return bareChange(ctx, pool, `WHERE id = $1 AND account = $2 FOR UPDATE`, `attempts = $2`, fmt.Sprint(i%sessions), "clinic")
			}
	})
}

func BenchmarkNext(b *testing.B) {
	url := database(b)
	st := open(b, url, nil)
	defer st.Close()
	bench(b, st, url, func(b *testing.B, n int) (ours, bare func(ctx context.Context, pool *pgxpool.Pool, i int) error) {
		long := time.Now().Add(-time.Hour)
		inTurns(b, 0, 2*n, func(i int) error {
			return st.Create(b.Context(), waiting(fmt.Sprint(i), long.Add(time.Duration(i)*time.Microsecond)))
		})
		return func(ctx context.Context, _ *pgxpool.Pool, _ int) error {
				_, err := st.Next(ctx, func(s *store.Session, now time.Time) error {
					s.Due, s.Owner = now.Add(time.Minute), "worker"
					s.Token++
					return attempt(s, now)
				})
				return err
			}, func(ctx context.Context, pool *pgxpool.Pool, _ int) error {
				return bareChange(ctx, pool, `WHERE due <= clock_timestamp() ORDER BY due LIMIT 1 FOR UPDATE SKIP LOCKED`,
					`due = clock_timestamp() + interval '1 minute', owner = 'worker', token = token + 1, attempts = $2`)
			}
	})
}

// BenchmarkPutAudio stores recordings of 30 s.
func BenchmarkPutAudio(b *testing.B) {
	st := open(b, database(b), nil)
	defer st.Close()
	const seconds, rate = 30, 44_100
	data := make([]byte, seconds*rate*2)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		ref, err := st.Audio().Put(b.Context(), bytes.NewReader(data))
		if err == nil {
			err = st.Audio().Remove(b.Context(), ref)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
