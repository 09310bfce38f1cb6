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
	if err := template(); err != nil {
		t.Fatal(err)
	}
	name := create(t, s, "TEMPLATE template_of_tests") // not used again: it is large
	st := open(t, s.URL(name), nil)
	defer st.Close()
	db, err := pgx.Connect(t.Context(), s.URL(name))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	n := manySessions(t)
	if _, err := db.Exec(t.Context(), `
		INSERT INTO voicescreen.sessions (`+bareColumns+`)
		SELECT 'session ' || i, 'clinic', 'patient ' || i % ($1::integer / 50), NULL, 'success', clock_timestamp(), clock_timestamp(), '', NULL, '', 0,
			false, false, NULL, '', 0, 0, NULL, NULL, NULL, 0, 0, 0, ''
		FROM generate_series(1, $1::integer) i`, n); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(t.Context(), `ANALYZE voicescreen.sessions`); err != nil {
		t.Fatal(err)
	}
	for name, statement := range postgres.Statements {
		plan, err := planOf(t, db, statement.SQL, statement.Params)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(plan, "Seq Scan on sessions") {
			t.Errorf("%s reads all sessions:\n%s", name, plan)
		}
	}
	list, lease := make([]time.Duration, 0, 100), make([]time.Duration, 0, 100)
	for i := range cap(list) {
		begin := time.Now()
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
	}
	slices.Sort(list)
	slices.Sort(lease)
	t.Logf("%d sessions: a list of 50 takes %v, 95 %% below %v; a lease %v, %v", n, list[50], list[95], lease[50], lease[95])
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
