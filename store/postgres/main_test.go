package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/internal/proof/pgserver"
	"github.com/voicescreen/voicescreen/internal/proof/s3server"
	"github.com/voicescreen/voicescreen/internal/proof/testflag"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/postgres"
)

// server is that of all tests that do not kill it. stopServer stops it, if it was
// started.
var (
	stopServer = func() error { return nil }
	server     = sync.OnceValues(func() (*pgserver.Server, error) {
		s, err := pgserver.StartInMemory()
		if err == nil {
			stopServer = s.Stop
		}
		return s, err
	})
)

// template is a database with the tables, of which tests make copies.
var template = sync.OnceValue(func() error {
	s, err := server()
	if err != nil {
		return err
	}
	if _, err := s.SQL(context.Background(), "postgres", "CREATE DATABASE template_of_tests"); err != nil {
		return err
	}
	st, err := postgres.Open(context.Background(), s.URL("template_of_tests"), nil)
	if err != nil {
		return err
	}
	if err := st.Close(); err != nil {
		return err
	}
	_, err = s.SQL(context.Background(), "template_of_tests", "DELETE FROM voicescreen.encryption") // the copies are new stores
	return err
})

func TestMain(m *testing.M) {
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": s3server.AccessKey, "AWS_SECRET_ACCESS_KEY": s3server.SecretKey, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_SESSION_TOKEN": "", "AWS_ROLE_ARN": "",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	if err := errors.Join(testflag.Parallel("4"), testflag.Histories(cost.Sized("25", "10"))); err != nil {
		panic(err)
	}
	code := m.Run()
	for _, stop := range []func() error{closeFree, stopServer, stopBuckets} {
		if err := stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if code == 0 {
		// Connections to a bucket stay open for a while: nobody closes a Bucket.
		if err := goleak.Find(goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// started returns the server of the tests.
func started(t testing.TB) *pgserver.Server {
	t.Helper()
	s, err := server()
	if errors.Is(err, pgserver.ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// databases counts those that were made.
var databases atomic.Int32

// A used database was left empty by a test: another one takes long to make.
type used struct {
	name string
	conn *pgx.Conn // which emptied it
}

var free struct {
	mu   sync.Mutex // protects list
	list []used
}

// database returns the connection string of an empty database, which has the
// tables.
func database(t testing.TB) string {
	t.Helper()
	s := started(t)
	free.mu.Lock()
	var db used
	if n := len(free.list); n > 0 {
		db, free.list = free.list[n-1], free.list[:n-1]
	}
	free.mu.Unlock()
	if db.conn == nil {
		db.name = copied(t, s)
		var err error
		if db.conn, err = pgx.Connect(context.Background(), s.URL(db.name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		_, err := db.conn.Exec(context.Background(), "DELETE FROM voicescreen.sessions; DELETE FROM voicescreen.audio; DELETE FROM voicescreen.documents; DELETE FROM voicescreen.encryption")
		if err != nil {
			t.Error(errors.Join(err, db.conn.Close(context.Background())))
			return
		}
		free.mu.Lock()
		defer free.mu.Unlock()
		free.list = append(free.list, db)
	})
	return s.URL(db.name)
}

// copied makes a database with the tables and returns its name.
func copied(t testing.TB, s *pgserver.Server) string {
	t.Helper()
	if err := template(); err != nil {
		t.Fatal(err)
	}
	return create(t, s, "TEMPLATE template_of_tests")
}

// closeFree closes the connections of all databases.
func closeFree() (err error) {
	for _, db := range free.list {
		err = errors.Join(err, db.conn.Close(context.Background()))
	}
	return err
}

// create makes a database and returns its name.
func create(t testing.TB, s *pgserver.Server, with string) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", databases.Add(1))
	if _, err := s.SQL(context.Background(), "postgres", "CREATE DATABASE "+name+" "+with); err != nil {
		t.Fatal(err)
	}
	return name
}

// open opens the store of a test, which the test closes.
func open(t testing.TB, url string, opts *postgres.Options) *postgres.Store {
	t.Helper()
	st, err := postgres.Open(context.Background(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// opened opens the store of a test in a new database, and closes it at the end.
func opened(t testing.TB, opts *postgres.Options) *postgres.Store {
	t.Helper()
	st := open(t, database(t), opts)
	t.Cleanup(func() {
		if err := st.Close(); err != nil && !errors.Is(err, store.ErrClosed) {
			t.Errorf("Close: %v", err)
		}
	})
	return st
}

// at is the clock of a test.
func at(now func() time.Time) *postgres.Options { return &postgres.Options{Now: now} }

// databaseName returns the name of the database of a connection string.
func databaseName(url string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(url, "postgres:///"), "?")
	return name
}
