//go:build unix

package main

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/internal/proof/pgserver"
)

// startPostgres starts the server of all tests, and stopPostgres stops it if it was
// started.
var (
	startPostgres = sync.OnceValues(func() (*pgserver.Server, error) {
		pg, err := pgserver.StartInMemory()
		if err == nil {
			stopPostgres = pg.Stop
		}
		return pg, err
	})
	databases atomic.Int32 // that were made
)

// newDatabase returns an empty database of a PostgreSQL server.
func newDatabase(t testing.TB) (pg *pgserver.Server, url string) {
	t.Helper()
	pg, err := startPostgres()
	if errors.Is(err, pgserver.ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	url = pg.URL(fmt.Sprint("clinic_", databases.Add(1)))
	if _, err := pg.SQL(t.Context(), "postgres", "CREATE DATABASE "+nameOf(url)); err != nil {
		t.Fatal(err)
	}
	return pg, url
}

// nameOf returns the name of the database of a connection string.
func nameOf(url string) string { return regexp.MustCompile(`clinic_\d+`).FindString(url) }

// Two servers on one PostgreSQL database are replicas of one service: a session
// goes from the one to the other, and keys hold in both.
func TestServeOnPostgreSQL(t *testing.T) {
	pg, url := newDatabase(t)
	t.Setenv(envStoreKey, strings.Repeat("c3", secretSize))
	key := strings.TrimSpace(ok(t, "keys", "create", "--db", url, "--account", "clinic-a").stdout)
	var replicas [2]*server
	for i := range replicas {
		replicas[i] = startServer(t, "--db", url)
	}
	one, other := replicas[0], replicas[1]
	one.call("GET", "/readyz", "", "", nil, http.StatusOK)
	id := one.initiate("/initiate", key, js, `{"user_id":"patient-31","is_initiated":true}`)
	other.submit("/predict", key, id, read(t, short), http.StatusAccepted)
	one.submit("/predict", key, id, read(t, short), http.StatusConflict)
	one.result("/predict/sessions/"+id, key, http.StatusOK).want(t, "status", "success")
	other.result("/predict/sessions/"+id, key, http.StatusOK).want(t, "status", "success")
	if n, err := pg.SQL(t.Context(), nameOf(url), "SELECT count(*) FROM voicescreen.audio"); n != "0" || err != nil {
		t.Errorf("got %s recordings and error %v after the result, want 0", n, err)
	}
	if list := ok(t, "keys", "list", "--db", url).stdout; !strings.Contains(list, "clinic-a") || strings.Contains(list, key) {
		t.Errorf("got list\n%s, want the account and not the key", list)
	}
	ok(t, "keys", "revoke", "--db", url, "--account", "clinic-a")
	for _, s := range replicas {
		for end := time.Now().Add(resultTime); s.status("/predict/sessions/"+id, key) == http.StatusOK; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("a replica still accepts the key that was revoked")
			}
		}
		s.call("GET", "/predict/sessions/"+id, key, "", nil, http.StatusForbidden)
		s.stop()
		if text := s.stderr.String(); strings.Contains(text, key) || strings.Contains(text, "patient-31") {
			t.Errorf("the log holds the key or the user:\n%s", text)
		}
	}
	t.Setenv(envStoreKey, "")
	if o := cli(t, "keys", "list", "--db", url); o.code != command.ExitError || !strings.Contains(o.stderr, "encrypted") {
		t.Errorf("without the store key: got %+v, want an error that says so", o)
	}
}

func TestPostgreSQLFlagsThatDoNotFit(t *testing.T) {
	const url = "postgres://user:secret@nowhere.invalid/db"
	for name, args := range map[string][]string{
		"a backup":                 {"serve", "--db", url, "--backup", t.TempDir(), "--backup-every", "24h"},
		"keys in two places":       {"keys", "list", "--db", url, "--keys", "keys.json"},
		"keys nowhere":             {"keys", "list"},
		"keys in a database file":  {"keys", "list", "--db", "clinic.db"},
		"an encrypted key file":    {"keys", "list", "--keys", "keys.json", "--store-key", "x"},
		"a command for files only": {"db", "compact", url},
		"work in a database file":  {"work", "--db", "clinic.db"},
		"work nowhere":             {"work"},
		"work without workers":     {"work", "--db", url, "--workers", "0"},
		"work without a port":      {"work", "--db", url, "--addr", "localhost"},
		"too many workers":         {"serve", "--db", url, "--workers", "2000"},
		"no workers for a file":    {"serve", "--db", "clinic.db", "--keys", "keys.json", "--workers", "0"},
		"less than no workers":     {"serve", "--db", url, "--workers", "-1"},
		"audio for a file":         {"serve", "--db", "clinic.db", "--keys", "keys.json", "--audio", "s3://recordings"},
		"audio nowhere":            {"work", "--db", url, "--audio", "/nowhere/at/all"},
		"audio by FTP":             {"work", "--db", url, "--audio", "ftp://user:secret@host"},
		"a bucket with a secret":   {"work", "--db", url, "--audio", "s3://user:secret@bucket"},
		"row security in a file":   {"serve", "--db", "clinic.db", "--keys", "keys.json", "--row-security"},
		"a key without a bucket":   {"work", "--db", url, "--s3-customer-key", "x"},
	} {
		if o := cli(t, args...); o.code != command.ExitUsage || o.stderr == "" || strings.Contains(o.stderr, "secret") {
			t.Errorf("%s: got %+v, want a usage error without the password", name, o)
		}
	}
	for name, args := range map[string][]string{
		"a server that is not there": {"serve", "--addr", "127.0.0.1:0", "--db", url},
		"keys there":                 {"keys", "list", "--db", url},
		"work there":                 {"work", "--db", url},
	} {
		if o := cli(t, args...); o.code != command.ExitError || o.stderr == "" || strings.Contains(o.stderr, "secret") {
			t.Errorf("%s: got %+v, want an error without the password", name, o)
		}
	}
}

// Two servers with --rate grant a key one limit together, and leave no trace of
// themselves when they end.
func TestRateOfTwoServers(t *testing.T) {
	pg, url := newDatabase(t)
	key := strings.TrimSpace(ok(t, "keys", "create", "--db", url, "--account", "clinic-a").stdout)
	live := func() string {
		t.Helper()
		text, err := pg.SQL(t.Context(), nameOf(url), "SELECT convert_from(data, 'UTF8') FROM voicescreen.documents WHERE name = 'replicas'")
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	one := startServer(t, "--db", url, "--workers", "0", "--rate", "0.001", "--burst", "10")
	two := startServer(t, "--db", url, "--workers", "0", "--rate", "0.001", "--burst", "10")
	if text := live(); strings.Count(text, ":") != 2 {
		t.Errorf("got replicas %s, want two", text)
	}
	for range 5 { // its half, as it started when there was another one
		two.call("GET", "/v2/predict/users/u", key, "", nil, http.StatusOK)
	}
	two.call("GET", "/v2/predict/users/u", key, "", nil, http.StatusTooManyRequests)
	one.stop()
	two.stop()
	if text := live(); text != "{}" {
		t.Errorf("got replicas %s, want none", text)
	}
}
