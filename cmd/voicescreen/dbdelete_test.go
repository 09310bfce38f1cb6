package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/audit"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// deleteUser runs "db delete-user" for patient-17 of clinic-a.
func deleteUser(t *testing.T, path, stdin string, more ...string) outcome {
	t.Helper()
	return cliStdin(t, stdin, append([]string{"db", "delete-user", path, "--account", "clinic-a", "--user", "patient-17"}, more...)...)
}

// idsIn returns the identifiers of all sessions of a database.
func idsIn(t *testing.T, path string, more ...string) string {
	t.Helper()
	var ids []string
	for _, s := range exported(t, ok(t, append([]string{"db", "export", path}, more...)...).stdout) {
		ids = append(ids, s.ID)
	}
	return strings.Join(ids, " ")
}

// Nothing is erased without a yes.
func TestDBDeleteUserAsks(t *testing.T) {
	path := clinicDB(t, "", clinicSessions())
	for _, answer := range []string{"", "\n", "no\n", "y\n", "yes please\n", strings.Repeat("x", 5000) + "\nyes\n"} {
		o := deleteUser(t, path, answer)
		if o.code != command.ExitError || o.stdout != "" || !strings.Contains(o.stderr, "Erase 2 sessions of this user, the latest of 2026-01-31 13:00:00?") ||
			!strings.Contains(o.stderr, "nothing was erased") || strings.Contains(o.stderr, "patient-17") {
			t.Errorf("answer %.20q: got %+v, want a question and an error without the user", answer, o)
		}
	}
	if got := idsIn(t, path); got != "s1 s2 s3 s4 s5" {
		t.Errorf("got the sessions %s, want all", got)
	}
	if o := deleteUser(t, path, "Yes\n"); o.code != 0 || o.stdout != "2 sessions erased\n" {
		t.Errorf("got %+v, want 2 sessions erased", o)
	}
	if got := idsIn(t, path); got != "s3 s4 s5" {
		t.Errorf("got the sessions %s, want those of others", got)
	}
	if o := deleteUser(t, path, ""); o.code != 0 || o.stderr != "" || !strings.HasPrefix(o.stdout, "0 sessions erased") {
		t.Errorf("got %+v, want that there are none, without a question", o)
	}
}

// An encrypted database loses the sessions with their recordings, and the audit log
// names them and not the user.
func TestDBDeleteUserIsRecorded(t *testing.T) {
	dir := t.TempDir()
	keyFile, trail := filepath.Join(dir, "store.key"), filepath.Join(dir, "audit.log")
	path := clinicDB(t, keyFile, clinicSessions())
	st, err := bolt.Open(path, &bolt.Options{Key: bytes.Repeat([]byte{0x1a}, bolt.KeySize)})
	if err != nil {
		t.Fatal(err)
	}
	ref, err := st.Audio().Put(t.Context(), strings.NewReader("a voice"))
	if err != nil {
		t.Fatal(err)
	}
	waits := &store.Session{ID: "s6", Account: "clinic-a", UserID: "patient-17", Status: screen.StatusProcessing, Audio: ref, CreatedAt: clinicStart, UpdatedAt: clinicStart, Due: clinicStart}
	if err := st.Create(t.Context(), waits); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	o := deleteUser(t, path, "", "--yes", "--store-key", keyFile, "--audit", trail)
	if o.code != 0 || o.stdout != "3 sessions erased\n" || o.stderr != "" {
		t.Errorf("got %+v, want 3 sessions erased and no question", o)
	}
	if got := idsIn(t, path, "--store-key", keyFile); got != "s3 s4 s5" {
		t.Errorf("got the sessions %s, want those of others", got)
	}
	if files, err := os.ReadDir(path + ".audio"); err != nil || len(files) != 0 {
		t.Errorf("got %v and error %v, want no recording", files, err)
	}
	if o := ok(t, "db", "check", path, "--store-key", keyFile); !strings.Contains(o.stdout, "0 faults") {
		t.Errorf("got %q, want no fault", o.stdout)
	}
	ok(t, "audit", "verify", trail)
	var got []string
	for line := range strings.Lines(string(read(t, trail))) {
		var r audit.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Action == actionDeleteUser {
			got = append(got, r.Account+" "+r.Session+" "+r.Outcome)
		}
	}
	if want := "clinic-a  begun,clinic-a s2 erased,clinic-a s1 erased,clinic-a s6 erased,clinic-a  done"; strings.Join(got, ",") != want {
		t.Errorf("got the records %q, want %s", got, want)
	}
	if strings.Contains(string(read(t, trail)), "patient-17") {
		t.Error("the audit log names the user")
	}
}

// Where the erasure cannot be recorded, nothing is erased. Damaged records are
// erased with the others.
func TestDBDeleteUserWhenSomethingIsWrong(t *testing.T) {
	path := clinicDB(t, "", clinicSessions())
	if o := deleteUser(t, path, "", "--yes", "--audit", filepath.Join(t.TempDir(), "none", "audit.log")); o.code != command.ExitError || o.stdout != "" {
		t.Errorf("got %+v, want an error", o)
	}
	if got := idsIn(t, path); got != "s1 s2 s3 s4 s5" {
		t.Errorf("got the sessions %s, want all", got)
	}
	damageFirst(t, path) // of patient-17
	o := deleteUser(t, path, "yes\n")
	if o.code != 0 || o.stdout != "2 sessions erased\n" || !strings.Contains(o.stderr, "some are damaged") {
		t.Errorf("got %+v, want 2 sessions erased, one of them damaged", o)
	}
	if got := idsIn(t, path); got != "s3 s4 s5" {
		t.Errorf("got the sessions %s, want those of others", got)
	}
}
