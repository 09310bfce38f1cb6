package postgres_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/postgres"
)

// churned is how many sessions go through the queue: see docs/DURABILITY.md.
func churned(t *testing.T) int {
	text := os.Getenv("VOICESCREEN_TEST_CHURN")
	if text == "" {
		return 20_000
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("VOICESCREEN_TEST_CHURN: %v", err)
	}
	return n
}

// TestAnOldTransactionDoesNotSlowTheQueue holds a transaction open, as a backup
// does, while an hour of sessions is submitted, leased and finished. None of
// their index entries can be removed meanwhile.
func TestAnOldTransactionDoesNotSlowTheQueue(t *testing.T) {
	t.Parallel()
	url := database(t)
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := begin
	st := open(t, url+"&pool_max_conns=1", &postgres.Options{Now: func() time.Time { return now }})
	defer st.Close()
	old, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close(t.Context())
	if _, err := old.Exec(t.Context(), "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM voicescreen.sessions"); err != nil {
		t.Fatal(err)
	}
	db, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := db.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	const calls = 200
	take := func() (callsPerSecond float64, read int64) {
		for i := range calls {
			if err := st.Create(t.Context(), waiting(fmt.Sprint(now.UnixNano(), " ", i), now.Add(time.Duration(i)*time.Microsecond))); err != nil {
				t.Fatal(err)
			}
		}
		now = now.Add(time.Second)
		before := entriesRead(t, st, db)
		start := time.Now()
		for range calls {
			_, err := st.Next(t.Context(), func(s *store.Session, _ time.Time) error {
				s.Due = time.Time{}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		return calls / time.Since(start).Seconds(), entriesRead(t, st, db) - before
	}
	first, _ := take()
	n := churned(t)
	exec(`INSERT INTO voicescreen.sessions (`+bareColumns+`)
		SELECT 'churn ' || i, 'clinic', 'patient', NULL, 'processing', $1, $1, '', NULL, '', 0, false, false,
			$1::timestamptz + i * interval '1 hour' / $2::integer, '', 0, 0, NULL, NULL, NULL, 0, 0, 0, ''
		FROM generate_series(1, $2::integer) i`, begin.Add(2*time.Second), n)
	exec(`UPDATE voicescreen.sessions SET due = due + interval '1 minute' WHERE id LIKE 'churn%'`)
	exec(`UPDATE voicescreen.sessions SET due = NULL, status = 'success' WHERE id LIKE 'churn%'`)
	exec(`VACUUM ANALYZE voicescreen.sessions`)
	now = begin.Add(2 * time.Hour)
	take() // the second after the pause
	second, read := take()
	start := time.Now()
	exec(`SELECT id FROM voicescreen.sessions WHERE due <= $1 ORDER BY due LIMIT 1`, now)
	t.Logf("%.0f calls/s before and %.0f after %d sessions; %d index entries read by %d calls; one search from the beginning takes %v",
		first, second, n, read, calls, time.Since(start).Round(time.Millisecond/10))
	if read == 0 {
		t.Error("the entries that were read are not counted")
	}
	if most := int64(calls * 2 * n / 10); read > most { // a tenth of what they are from the beginning; one search a second is
		t.Errorf("%d calls read %d index entries, want at most %d", calls, read, most)
	}
}

// entriesRead returns how many entries of the queue's index were read until now
// by the connection of the store.
func entriesRead(t *testing.T, st *postgres.Store, db *pgx.Conn) (n int64) {
	t.Helper()
	err := st.Exec(t.Context(), `SELECT pg_stat_force_next_flush()`)
	if err == nil {
		err = db.QueryRow(t.Context(), `SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 'sessions_due'`).Scan(&n)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}
