//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/httpadapter/webhook"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// queueRecording adds a session that waits for its analysis, and a document.
func queueRecording(t *testing.T, db string) {
	t.Helper()
	st, err := bolt.Open(db, nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	ref, err := st.Audio().Put(t.Context(), strings.NewReader("audio"))
	if err == nil {
		err = st.Create(t.Context(), &store.Session{Account: "clinic", ID: "waits", UserID: "patient-31", Status: screen.StatusProcessing, Product: screen.DepressionAnxiety,
			CreatedAt: now, UpdatedAt: now, SubmittedAt: now, Due: now, Audio: ref})
	}
	if err == nil {
		_, err = st.PutDocument(t.Context(), learnedDocument, 0, []byte(`{"format":"voicescreen-learned/1","models":{"depression":[`+bayesText(t)+`]}}`))
	}
	if err == nil {
		err = st.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A database goes to PostgreSQL, is used there by the commands, and comes back.
func TestDBCopy(t *testing.T) {
	t.Parallel()
	pg, url := newDatabase(t)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	write(t, in("store.key"), []byte(strings.Repeat("5e", secretSize)))
	write(t, in("new.key"), []byte(strings.Repeat("6f", secretSize)))
	key, file := []string{"--store-key", in("store.key")}, labelledDB(t, 60)
	queueRecording(t, file)
	run := func(want string, args ...string) string {
		t.Helper()
		o := ok(t, args...)
		if !strings.Contains(o.stdout, want) {
			t.Errorf("%v: got\n%s\nwant %q in it", args, o.stdout, want)
		}
		return o.stdout
	}
	sql := func(statement string) string {
		t.Helper()
		out, err := pg.SQL(t.Context(), nameOf(url), statement)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	export := func(db string, key ...string) string { // each store has an order of its own
		t.Helper()
		text := ok(t, append([]string{"db", "export", db, "--parts", "sessions,results,labels,features"}, key...)...).stdout
		return strings.Join(slices.Sorted(strings.Lines(text)), "")
	}
	const all = "61 sessions, 1 recording, 1 document"
	there := []string{"db", "copy", file, url, "--to-key", in("store.key")}
	run("copied 61 sessions; there already 0 sessions\nfrom: "+all+"\nto:   "+all+"\n", there...)
	if export(url, key...) != export(file) {
		t.Error("the copy has other sessions")
	}
	sql("DELETE FROM voicescreen.sessions WHERE id LIKE 'session1%' OR id = 'waits'") // as if it had been interrupted
	run("copied 12 sessions; there already 49 sessions\nfrom: "+all+"\nto:   "+all+"\n", there...)
	run("copied 0 sessions; there already 61 sessions", there...)
	for version := range uint64(2) { // of servers that were killed
		live := map[string]string{
			httpadapter.ReplicasDocument: fmt.Sprintf(`{"a":%d}`, version),
			webhook.DeliveriesDocument:   fmt.Sprintf(`{"format":"voicescreen-webhook-deliveries/1","accounts":[{"account":"a","waiting":%d}]}`, version+1),
		}
		err := withStore(t.Context(), file, nil, func(st store.Store) error {
			var errs []error
			for _, name := range passing {
				_, err := st.PutDocument(t.Context(), name, version, []byte(live[name]))
				errs = append(errs, err)
			}
			return errors.Join(errs...)
		})
		if err != nil {
			t.Fatal(err)
		}
		run("copied 0 sessions; there already 61 sessions", there...)
	}

	run("61 sessions, 1 recordings with 5 bytes, 0 faults", append([]string{"db", "check", url}, key...)...)
	run("clinic   user0", append([]string{"db", "list", url}, key...)...)
	run("depression: a new model is in use", append([]string{"calibrate", "--db", url}, key...)...)
	run("", append([]string{"calibrate", "--db", url, "--task", "depression", "--revert"}, key...)...)
	run("anxiety: ", append([]string{"adapt", "--db", url, "--dry-run"}, key...)...)
	run("1 session erased", append([]string{"db", "delete-user", url, "--account", "clinic", "--user", "user7", "--yes"}, key...)...)
	run("", append([]string{"db", "rekey", url, "--new-key", in("new.key")}, key...)...)
	if o := cli(t, append([]string{"db", "list", url}, key...)...); o.code != command.ExitError || !strings.Contains(o.stderr, "--store-key") {
		t.Errorf("with the former key: got %+v, want an error that says where the key is given", o)
	}
	key = []string{"--store-key", in("new.key")}
	run("60 sessions, 1 recording, 1 document\n", append([]string{"db", "copy", url, in("back.db")}, key...)...)
	if export(url, key...) != export(in("back.db"), key...) {
		t.Error("the copy back has other sessions")
	}
	run("60 sessions, 1 recordings with 5 bytes, 0 faults", append([]string{"db", "check", in("back.db")}, key...)...)

	o := cli(t, "db", "copy", file, url, "--to-key", in("new.key")) // whose models have changed
	if o.code != command.ExitError || !strings.Contains(o.stderr, "learned-models") {
		t.Errorf("another document: got %+v, want an error that names it", o)
	}
	sql("UPDATE voicescreen.sessions SET attempts = 2 WHERE id = 'session3'")
	o = cli(t, append([]string{"db", "copy", in("back.db"), url}, key...)...)
	if o.code != command.ExitError || !strings.Contains(o.stderr, "session3: TO has another one") {
		t.Errorf("another session: got %+v, want an error that names it", o)
	}
}

// A recording that waits elsewhere goes with its session, and is not read by a command
// that does not know where it is.
func TestDBCopyOfAudioElsewhere(t *testing.T) {
	pg, url := newDatabase(t)
	dir, file := t.TempDir(), labelledDB(t, 1)
	queueRecording(t, file)
	back := filepath.Join(t.TempDir(), "back.db")
	ok(t, "db", "copy", file, url, "--audio", dir)
	if n, err := pg.SQL(t.Context(), nameOf(url), "SELECT count(*) FROM voicescreen.audio_chunks"); n != "0" || err != nil || len(below(t, dir)) != 1 {
		t.Errorf("got %s rows, error %v and %d files, want the recording in the directory", n, err, len(below(t, dir)))
	}
	if o := ok(t, "db", "check", url); !strings.Contains(o.stdout, "2 sessions, 0 recordings") || !strings.Contains(o.stdout, "0 faults") || !strings.Contains(o.stderr, "1 recording not in the database") {
		t.Errorf("check: got %+v, want no fault, and that a recording was not read", o)
	}
	if o := cli(t, "db", "copy", url, back); o.code != command.ExitError || !strings.Contains(o.stderr, "--audio") {
		t.Errorf("without the directory: got %+v, want an error that names the flag", o)
	}
	if o := ok(t, "db", "copy", url, back, "--audio", dir); !strings.Contains(o.stdout, "to:   2 sessions, 1 recording, 1 document") {
		t.Errorf("got %+v, want all of it", o)
	}
	if o := ok(t, "db", "check", back); !strings.Contains(o.stdout, "with 5 bytes, 0 faults") {
		t.Errorf("check of the copy: got %+v, want the recording", o)
	}
}

func TestDBCopyErrors(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.db")
	const url = "postgres://user:secret@nowhere.invalid/db"
	for name, c := range map[string]struct {
		args []string
		code int
	}{
		"two files":            {[]string{missing, missing + "2"}, command.ExitUsage},
		"one database":         {[]string{url, url}, command.ExitUsage},
		"audio of two servers": {[]string{url, url + "2", "--audio", "s3://recordings"}, command.ExitUsage},
		"audio nowhere":        {[]string{missing, url, "--audio", missing}, command.ExitUsage},
		"a key that is none":   {[]string{missing, url, "--to-key", missing}, command.ExitError},
		"a file that is none":  {[]string{missing, url}, command.ExitError},
		"a server that is not": {[]string{url, missing}, command.ExitError},
	} {
		o := cli(t, append([]string{"db", "copy"}, c.args...)...)
		if o.code != c.code || o.stderr == "" || strings.Contains(o.stderr, "secret") {
			t.Errorf("%s: got %+v, want code %d and no password", name, o, c.code)
		}
		if _, err := os.Stat(missing); err == nil {
			t.Fatalf("%s: a database was made", name)
		}
	}
}

// Webhooks and thresholds of a PostgreSQL database.
func TestDocumentsInPostgreSQL(t *testing.T) {
	_, url := newDatabase(t)
	secret := ok(t, "webhooks", "set", "--db", url, "--account", "clinic-a", "--url", "https://a.example/hook").stdout
	if !strings.HasPrefix(secret, "whsec_") {
		t.Errorf("got %q, want the secret", secret)
	}
	if list := ok(t, "webhooks", "list", "--db", url).stdout; !strings.Contains(list, "clinic-a  active") {
		t.Errorf("got list\n%s, want the account", list)
	}
	ok(t, "webhooks", "rotate", "--db", url, "--account", "clinic-a")
	ok(t, "webhooks", "remove", "--db", url, "--account", "clinic-a")
	file := filepath.Join(t.TempDir(), "thresholds.json")
	write(t, file, []byte(`{"format":"voicescreen-thresholds/1","accounts":{"clinic-a":{"depression":{"low":0.25,"high":0.75}}}}`))
	for _, db := range []string{url, labelledDB(t, 1)} {
		ok(t, "thresholds", "set", file, "--db", db)
		if text := ok(t, "thresholds", "show", "--db", db).stdout; !strings.Contains(text, "0.75") {
			t.Errorf("got thresholds\n%s, want those of the file", text)
		}
		ok(t, "thresholds", "remove", "--db", db)
		if text := ok(t, "thresholds", "show", "--db", db).stdout; strings.Contains(text, "0.75") {
			t.Errorf("got thresholds\n%s, want none", text)
		}
	}
	for name, args := range map[string][]string{
		"a file and a database": {"webhooks", "list", "--db", url, "--webhooks", file},
		"a database file":       {"webhooks", "list", "--db", "clinic.db"},
		"a key for a file":      {"webhooks", "list", "--webhooks", file, "--store-key", file},
		"no database":           {"thresholds", "show"},
		"backup":                {"db", "backup", url, file},
		"restore":               {"db", "restore", file, url},
		"compact":               {"db", "compact", url},
		"encrypt":               {"db", "encrypt", url, file},
	} {
		if o := cli(t, args...); o.code != command.ExitUsage && !(name == "encrypt" && o.code != 0) {
			t.Errorf("%s: got %+v, want a usage error", name, o)
		}
	}
}
