//go:build unix

package main

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/audit"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// A service records what it did, across restarts, and whoever changes a record
// is found.
func TestServeAudit(t *testing.T) {
	dir := t.TempDir()
	file, keyFile, secret := filepath.Join(dir, "audit.log"), filepath.Join(dir, "keys.json"), filepath.Join(dir, "audit.key")
	if err := os.WriteFile(secret, []byte(strings.Repeat("0f", secretSize)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--db", filepath.Join(dir, "clinic.db"), "--keys", keyFile, "--audit", file, "--audit-key", secret, "--max-upload", "1", "--uploads-per-key", "2"}
	key := strings.TrimSpace(ok(t, "keys", "create", "--keys", keyFile, "--account", "clinic-a").stdout)
	s := startServer(t, args...)
	id := s.initiate("/v2/initiate", key, "", `{"user_id":"patient-17","is_initiated":true}`)
	s.submit("/v2/prediction/", key, id, make([]byte, 3<<20), http.StatusRequestEntityTooLarge)
	s.call("GET", "/v2/predict/sessions/"+id, "", "", nil, http.StatusForbidden)
	if o := cli(t, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...); o.code != command.ExitError || o.stderr == "" {
		t.Errorf("got %+v for a second service, want an error", o)
	}
	if err := s.cmd.Process.Kill(); err != nil { // it is not asked
		t.Fatal(err)
	}
	s.cmd.Wait()
	s = startServer(t, args...)
	s.call("GET", "/v2/predict/sessions/"+id, key, "", nil, http.StatusExpectationFailed)
	s.stop()

	verify := []string{"audit", "verify", "--audit-key", secret}
	out := ok(t, append(verify, file)...).stdout
	if !strings.HasPrefix(out, "6 records, 1 to 6, ") || strings.Contains(out, "cut") || strings.Contains(out, "without") {
		t.Errorf("got\n%s\nwant 6 records and no more to say", out)
	}
	head := regexp.MustCompile(`6:[0-9a-f]{64}`).FindString(out)
	if !strings.Contains(s.stderr.String(), head) {
		t.Errorf("got log\n%s\nwant the head %s in it", s.stderr, head)
	}
	ok(t, append(verify, "--head", head, file)...)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte("patient-17")) || !bytes.Contains(data, []byte(id)) {
		t.Errorf("got\n%s\nwant the session and not the user", data)
	}
	for what, changed := range map[string][]byte{
		"an edit":       bytes.Replace(data, []byte(`"outcome":"413"`), []byte(`"outcome":"202"`), 1),
		"a deletion":    regexp.MustCompile(`(?m)^.*"413".*\n`).ReplaceAll(data, nil),
		"no end":        data[:bytes.LastIndexByte(data[:len(data)-1], '\n')+1],
		"an empty file": nil,
	} {
		if err := os.WriteFile(file, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		if o := cli(t, append(verify, file)...); o.code != command.ExitError || o.stdout != "" || len(changed) > 0 && what != "no end" && !strings.Contains(o.stderr, "line 3: ") {
			t.Errorf("%s: got %+v, want to be told of line 3", what, o)
		}
	}
}

// What --retain erases is in the log.
func TestServeAuditsRetention(t *testing.T) {
	dir := t.TempDir()
	db, file := filepath.Join(dir, "clinic.db"), filepath.Join(dir, "audit.log")
	st, err := bolt.Open(db, nil)
	if err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-voicescreen.FeedbackWindow - time.Hour)
	err = st.Create(t.Context(), &store.Session{Account: "clinic-a", ID: "old", UserID: "patient-17", Status: screen.StatusInitiated, CreatedAt: old, UpdatedAt: old})
	if err := errors.Join(err, st.Close()); err != nil {
		t.Fatal(err)
	}
	keyFile := filepath.Join(dir, "keys.json")
	ok(t, "keys", "create", "--keys", keyFile, "--account", "clinic-a")
	s := startServer(t, "--db", db, "--keys", keyFile, "--audit", file, "--retain", voicescreen.FeedbackWindow.String())
	const want = `"account":"clinic-a","action":"retention","session":"old","outcome":"erased"`
	var data []byte
	for end := time.Now().Add(resultTime); !bytes.Contains(data, []byte(want)); time.Sleep(10 * time.Millisecond) {
		if data, err = os.ReadFile(file); err != nil || time.Now().After(end) {
			t.Fatalf("got error %v and\n%s\nwant %s in it", err, data, want)
		}
	}
	s.stop()
	if o := ok(t, "audit", "verify", file); !strings.HasPrefix(o.stdout, "2 records") || bytes.Contains(data, []byte("patient")) {
		t.Errorf("got %+v of\n%s\nwant 2 records, and no user", o, data)
	}
}

func TestAuditErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "audit.key")
	for what, text := range map[string]string{"empty": "", "short": "0f0f", "no digits": strings.Repeat("x", 64)} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		o := cli(t, "serve", "--dev", "--audit", filepath.Join(dir, "audit.log"), "--audit-key", file)
		if o.code != command.ExitError || !strings.Contains(o.stderr, "key") || text != "" && strings.Contains(o.stderr, text) {
			t.Errorf("%s: got %+v, want an error about the key without the key", what, o)
		}
	}
	if o := cli(t, "audit", "verify", filepath.Join(dir, "none.log")); o.code != command.ExitError || !strings.Contains(o.stderr, "none.log") {
		t.Errorf("got %+v for no file, want an error", o)
	}
	t.Setenv(auditEnv, "0f")
	if o := cli(t, "audit", "verify", file); o.code != command.ExitError || !strings.Contains(o.stderr, auditEnv) {
		t.Errorf("got %+v for a bad key in the environment, want an error", o)
	}
}

// What happens to keys can be recorded in a log of its own.
func TestKeysAudit(t *testing.T) {
	dir := t.TempDir()
	file, keyFile := filepath.Join(dir, "keys.log"), filepath.Join(dir, "keys.json")
	key := strings.TrimSpace(ok(t, "keys", "create", "--keys", keyFile, "--account", "clinic-a", "--audit", file).stdout)
	ok(t, "keys", "revoke", "--keys", keyFile, "--id", key, "--audit", file)
	if o := cli(t, "keys", "create", "--keys", keyFile, "--account", "a b", "--audit", file); o.code != command.ExitUsage {
		t.Errorf("got %+v for a bad name, want a usage error", o)
	}
	if o := cli(t, "keys", "revoke", "--keys", keyFile, "--account", "patient-17", "--audit", file); o.code != command.ExitError {
		t.Errorf("got %+v for an unknown account, want an error", o)
	}
	ok(t, "audit", "verify", file)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	id := keyID(key)
	for _, want := range []string{`"account":"clinic-a","key":"` + id + `","action":"keys create","outcome":"done"`,
		`"key":"` + id + `","action":"keys revoke","outcome":"done"`, `"action":"keys create","outcome":"failed"`, `"action":"keys revoke","outcome":"failed"`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("got\n%s\nwant %s in it", data, want)
		}
	}
	if text := string(data); strings.Contains(text, key) || strings.Contains(text, "a b") || strings.Contains(text, "patient-17") {
		t.Errorf("got\n%s\nwant neither the key nor what is no account", data)
	}
	// Where it cannot be recorded it is not done.
	before := ok(t, "keys", "list", "--keys", keyFile).stdout
	l, err := audit.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, args := range [][]string{{"create", "--account", "clinic-b"}, {"revoke", "--account", "clinic-a"}} {
		if o := cli(t, append([]string{"keys", args[0], "--keys", keyFile, "--audit", file}, args[1:]...)...); o.code != command.ExitError || !strings.Contains(o.stderr, "another file") {
			t.Errorf("got %+v while the log is open, want an error", o)
		}
	}
	if after := ok(t, "keys", "list", "--keys", keyFile).stdout; after != before {
		t.Errorf("got keys\n%s\nwant\n%s", after, before)
	}
}

// Each replica has a log of its own, whose records name it, and all are verified at once.
func TestAuditLogsOfReplicas(t *testing.T) {
	dir := t.TempDir()
	var logs []string
	for _, name := range []string{"web-1", "web-2"} {
		file := filepath.Join(dir, name+".log")
		ok(t, "keys", "create", "--keys", filepath.Join(dir, "keys.json"), "--account", "clinic-a", "--audit", file, "--replica", name)
		if n := strings.Count(string(read(t, file)), `"replica":"`+name+`"`); n != 2 {
			t.Errorf("got %d records that name %s, want 2", n, name)
		}
		logs = append(logs, file)
	}
	out := ok(t, append([]string{"audit", "verify", "--each"}, logs...)...).stdout
	for _, want := range []string{logs[0] + ":\n2 records, 1 to 2", logs[1] + ":\n2 records", "of web-1\n", "of web-2\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("got\n%s\nwant %q in it", out, want)
		}
	}
	if o := cli(t, append([]string{"audit", "verify"}, logs...)...); o.code != command.ExitError {
		t.Errorf("as one log: got %+v, want an error", o)
	}
	write(t, logs[0], bytes.Replace(read(t, logs[0]), []byte("web-1"), []byte("web-9"), 1))
	if o := cli(t, append([]string{"audit", "verify", "--each"}, logs...)...); o.code != command.ExitError || !strings.Contains(o.stderr, "web-1.log") || !strings.Contains(o.stdout, "of web-2") {
		t.Errorf("a changed name: got %+v, want an error about its log, and the other one verified", o)
	}
	for name, args := range map[string][]string{
		"a head":                {"audit", "verify", "--each", "--head", "1:" + strings.Repeat("0", 64), logs[0]},
		"a replica without log": {"keys", "list", "--keys", "x", "--replica", "web-1"},
		"a name with a space":   {"serve", "--dev", "--audit", logs[0], "--replica", "web 1"},
	} {
		if o := cli(t, args...); o.code != command.ExitUsage {
			t.Errorf("%s: got %+v, want a usage error", name, o)
		}
	}
}
