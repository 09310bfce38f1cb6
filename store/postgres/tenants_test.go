package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/voicescreen/voicescreen/store/postgres"
)

// With row-level security a role sees the sessions of its accounts, changes no others,
// and sees nothing that belongs to no account. Without it, what it was granted.
func TestRowLevelSecurity(t *testing.T) {
	t.Parallel()
	s := started(t)
	name := copied(t, s) // not used again: row-level security stays on
	url := s.URL(name)
	sql := func(statements string) (string, error) {
		t.Helper()
		return s.SQL(t.Context(), name, strings.ReplaceAll(statements, "ROLE_", name+"_"))
	}
	must := func(statements string) string {
		t.Helper()
		out, err := sql(statements)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	st := open(t, url, nil)
	for _, account := range []string{"clinic-a", "clinic-b"} {
		session := newSession("of " + account)
		session.Account = account
		if err := st.Create(t.Context(), session); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := st.PutDocument(t.Context(), "keys", 0, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	must(`
		CREATE ROLE ROLE_a LOGIN; CREATE ROLE ROLE_service LOGIN;
		GRANT USAGE ON SCHEMA voicescreen TO ROLE_a, ROLE_service;
		GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA voicescreen TO ROLE_service;
		GRANT SELECT, UPDATE ON voicescreen.sessions, voicescreen.documents TO ROLE_a;
		INSERT INTO voicescreen.tenants VALUES ('ROLE_a', 'clinic-a');`)
	const look = `SET ROLE ROLE_a; SELECT account FROM voicescreen.sessions ORDER BY account`
	if got := must(look); got != "clinic-a\nclinic-b" {
		t.Errorf("before: got accounts %q, want both", got)
	}
	for range 2 { // on, and on already
		if err := open(t, url, &postgres.Options{RowSecurity: true}).Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := must(look); got != "clinic-a" {
		t.Errorf("got accounts %q, want that of the role", got)
	}
	if got := must(`SET ROLE ROLE_a; UPDATE voicescreen.sessions SET attempts = 1; SELECT count(*) FROM voicescreen.documents`); got != "0" {
		t.Errorf("got %s documents, want none", got)
	}
	if got := must(`SELECT sum(attempts) FROM voicescreen.sessions`); got != "1" {
		t.Errorf("got %s sessions changed, want that of the role", got)
	}
	if out, err := sql(`SET ROLE ROLE_a; UPDATE voicescreen.sessions SET account = 'clinic-b'`); err == nil {
		t.Errorf("a session went to another account: %s", out)
	}
	service := strings.ReplaceAll(url, "user=voicescreen", "user="+name+"_service")
	if _, err := postgres.Open(t.Context(), service, nil); !errors.Is(err, postgres.ErrServer) || !strings.Contains(err.Error(), "voicescreen.tenants") {
		t.Errorf("a service that sees no account: got error %v, want %v and what to do", err, postgres.ErrServer)
	}
	must(`INSERT INTO voicescreen.tenants VALUES ('ROLE_service', NULL)`)
	st = open(t, service, &postgres.Options{RowSecurity: true})
	defer st.Close()
	if list, err := st.Scan(t.Context(), "", 10); len(list) != 2 || err != nil {
		t.Errorf("the service: got %d sessions and error %v, want 2", len(list), err)
	}
	if ref, err := st.Audio().Put(t.Context(), strings.NewReader("voice")); err != nil || ref == "" {
		t.Errorf("the service: Put: %v", err)
	}
	if err := st.Create(t.Context(), newSession("new")); err != nil {
		t.Errorf("the service: Create: %v", err)
	}
	// What every role of the database may hear names nobody.
	tenant, err := pgx.Connect(t.Context(), strings.ReplaceAll(url, "user=voicescreen", "user="+name+"_a"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tenant.Close(context.Background()) }()
	if _, err := tenant.Exec(t.Context(), "LISTEN voicescreen"); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Update(t.Context(), "clinic", "new", attempt); err != nil {
		t.Errorf("the service: Update: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if n, err := tenant.WaitForNotification(ctx); err != nil || n.Payload != "0 " {
		t.Errorf("got the notification %+v and error %v, want one without a name", n, err)
	}
}
