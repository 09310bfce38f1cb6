package postgres_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/postgres"
)

// manySessions is how long the table is: see docs/DURABILITY.md.
func manySessions(t *testing.T) int {
	text := os.Getenv("VOICESCREEN_TEST_SESSIONS")
	if text == "" {
		return 20_000
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("VOICESCREEN_TEST_SESSIONS: %v", err)
	}
	return n
}

// TestNoStatementReadsAllSessions looks at the plans of the statements in a table
// of many finished sessions, and at how long a listing and a lease take there.
func TestNoStatementReadsAllSessions(t *testing.T) {
	t.Parallel()
	s := started(t)
	name := copied(t, s) // not used again: it is large
	st := open(t, s.URL(name), nil)
	defer st.Close()
	db, err := pgx.Connect(t.Context(), s.URL(name))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	n := manySessions(t)
	begin := time.Now()
	fill(t, db, n)
	t.Logf("%d sessions were made in %v", n, time.Since(begin))
	for name, statement := range postgres.Statements {
		plan, err := planOf(t, db, statement.SQL, statement.Params)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(plan, "Seq Scan on sessions") {
			t.Errorf("%s reads all sessions:\n%s", name, plan)
		}
	}
	var list, lease, search, change, commit durations
	for i := range 100 {
		begin = time.Now()
		if sessions, err := st.List(t.Context(), "clinic", fmt.Sprintf("patient %d", i*n/5100), nil, 50); err != nil || len(sessions) != 50 {
			t.Fatalf("List: got %d sessions and error %v, want 50", len(sessions), err)
		}
		list = append(list, time.Since(begin))
		if err := st.Create(t.Context(), waiting(fmt.Sprint("waiting ", i), time.Now().Add(-time.Minute))); err != nil {
			t.Fatal(err)
		}
		begin = time.Now()
		if _, err := st.Next(t.Context(), func(s *store.Session, now time.Time) error { s.Due = now.Add(time.Hour); return nil }); err != nil {
			t.Fatal(err)
		}
		lease = append(lease, time.Since(begin))
		if err := st.Create(t.Context(), waiting(fmt.Sprint("also waiting ", i), time.Now().Add(-time.Minute))); err != nil {
			t.Fatal(err)
		}
		parts := bareLease(t, db, postgres.Statements["next"].SQL)
		search, change, commit = append(search, parts[0]), append(change, parts[1]), append(commit, parts[2])
	}
	t.Logf("a list of 50 takes %v, a lease %v; of one by a bare program: the search %v, the change %v, the commit %v", list, lease, search, change, commit)
}

// durations are printed as their median and what 95 % are below.
type durations []time.Duration

func (d durations) String() string {
	sorted := slices.Sorted(slices.Values(d))
	return fmt.Sprintf("%v (95 %% below %v)", sorted[len(d)/2], sorted[len(d)*95/100])
}

// bareLease leases a session with the statements of the store, and returns how long the
// search, the change and the commit take.
func bareLease(t *testing.T, db *pgx.Conn, search string) (parts [3]time.Duration) {
	t.Helper()
	begin := time.Now()
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := tx.Query(t.Context(), search, nil, nil, time.Unix(0, 0), []string{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToMap)
	if err != nil {
		t.Fatal(err)
	}
	parts[0] = time.Since(begin)
	begin = time.Now()
	if _, err := tx.Exec(t.Context(), `UPDATE voicescreen.sessions SET owner = 'bare', token = token + 1, attempts = attempts + 1, due = clock_timestamp() + interval '1 hour' WHERE id = $1`, found["id"]); err != nil {
		t.Fatal(err)
	}
	parts[1] = time.Since(begin)
	begin = time.Now()
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	parts[2] = time.Since(begin)
	return parts
}

// fill makes n finished sessions, 50 of each user, in a table that is empty. The indexes
// are made afterwards, which is faster, and then the table is as the server keeps one
// that grew for years: vacuumed, analysed and on the disk.
func fill(t *testing.T, db *pgx.Conn, n int) {
	t.Helper()
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := db.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := db.Query(t.Context(), `SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'voicescreen' AND tablename = 'sessions' AND indexname <> 'sessions_pkey'`)
	if err != nil {
		t.Fatal(err)
	}
	indexes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Name, Definition string }])
	if err != nil || len(indexes) == 0 {
		t.Fatalf("got indexes %v and error %v", indexes, err)
	}
	for _, index := range indexes {
		exec("DROP INDEX voicescreen." + index.Name)
	}
	exec(`
		INSERT INTO voicescreen.sessions (`+bareColumns+`)
		SELECT 'session ' || i, 'clinic', 'patient ' || i % ($1::integer / 50), NULL, 'success', clock_timestamp(), clock_timestamp(), '', NULL, '', 0,
			false, false, NULL, '', 0, 0, NULL, NULL, NULL, 0, 0, 0, ''
		FROM generate_series(1, $1::integer) i`, n)
	for _, index := range indexes {
		exec(index.Definition)
	}
	exec(`VACUUM ANALYZE voicescreen.sessions`)
	exec(`CHECKPOINT`)
}

// planOf returns the plan that the server has for all values of a statement.
func planOf(t *testing.T, db *pgx.Conn, sql string, params int) (string, error) {
	t.Helper()
	tx, err := db.Begin(t.Context())
	if err != nil {
		return "", err
	}
	defer func() { _ = tx.Rollback(t.Context()) }() // nothing is to stay
	if _, err := tx.Exec(t.Context(), `SET LOCAL plan_cache_mode = force_generic_plan; PREPARE statement AS `+sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		return "", err
	}
	execute := "EXECUTE statement"
	if params > 0 {
		execute += "(" + strings.Repeat("NULL, ", params-1) + "NULL)"
	}
	rows, err := tx.Query(t.Context(), "EXPLAIN "+execute, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return "", err
	}
	defer func() { _, _ = db.Exec(context.Background(), "DEALLOCATE ALL", pgx.QueryExecModeSimpleProtocol) }() // prepared statements outlive the transaction
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return strings.Join(lines, "\n"), err
}
