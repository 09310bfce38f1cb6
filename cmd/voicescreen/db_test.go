package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// The life of a database: it is encrypted, checked, backed up, lost, restored,
// compacted, and gets another key.
func TestDB(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, digits := range map[string]string{"one.key": "1a", "two.key": "2b"} {
		if err := os.WriteFile(in(name), []byte(strings.Repeat(digits, secretSize)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	st, err := bolt.Open(in("plain.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	learned := `{"format":"voicescreen-learned/1","models":{"depression":[` + bayesText(t) + `]}}`
	if _, err := st.PutDocument(t.Context(), learnedDocument, 0, []byte(learned)); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, id := range []string{"a", "b"} {
		ref, err := st.Audio().Put(t.Context(), strings.NewReader("audio"))
		s := &store.Session{ID: id, UserID: "patient-41", Status: screen.StatusProcessing, CreatedAt: now, UpdatedAt: now, Due: now, Audio: ref}
		if err := errors.Join(err, st.Create(t.Context(), s)); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	one, two := []string{"--store-key", in("one.key")}, []string{"--store-key", in("two.key")}
	db := func(key []string, args ...string) string {
		t.Helper()
		return ok(t, append(append([]string{"db"}, args...), key...)...).stdout
	}
	refused := func(says string, key []string, args ...string) {
		t.Helper()
		o := cli(t, append(append([]string{"db"}, args...), key...)...)
		if o.code == 0 || !strings.Contains(o.stderr+o.stdout, says) {
			t.Errorf("db %v: got code %d and %q, want %q", args, o.code, o.stderr+o.stdout, says)
		}
	}
	const whole = "2 sessions, 2 recordings"
	want := func(out, says string) {
		t.Helper()
		if !strings.Contains(out, says) {
			t.Errorf("got %q, want %q", out, says)
		}
	}
	want(db(nil, "check", in("plain.db")), whole+" with 10 bytes, 0 faults")
	want(db(one, "encrypt", in("plain.db"), in("clinic.db")), "2 sessions")
	refused("is there already", one, "encrypt", in("plain.db"), in("clinic.db"))
	refused("--store-key is needed", nil, "encrypt", in("plain.db"), in("other.db"))
	want(db(one, "check", in("clinic.db")), whole)
	refused("no key was given; the key is from --store-key or VOICESCREEN_STORE_KEY", nil, "check", in("clinic.db"))
	for _, args := range [][]string{{"calibrate"}, {"adapt"}, {"serve", "--keys", in("keys.json"), "--addr", "127.0.0.1:0"}} {
		o := cli(t, append(args, "--db", in("clinic.db"))...)
		if o.code != command.ExitError || !strings.Contains(o.stderr, "no key was given; the key is from --store-key") {
			t.Errorf("%v: got %+v, want where the key is given", args, o)
		}
	}
	refused("key file "+in("none")+": ", nil, "check", in("clinic.db"), "--store-key", in("none"))
	refused("another one", two, "check", in("clinic.db"))
	want(db(one, "backup", in("clinic.db"), in("backup.db")), whole+", 0 faults")
	refused("is there already", one, "backup", in("clinic.db"), in("backup.db"))
	for _, name := range []string{"clinic.db", "clinic.db.keyslots", "clinic.db.audio"} {
		if err := os.RemoveAll(in(name)); err != nil {
			t.Fatal(err)
		}
	}
	want(db(one, "restore", in("backup.db"), in("clinic.db")), whole+", 0 faults")
	want(db(one, "compact", in("clinic.db")), "bytes, before")
	key := bytes.Repeat([]byte{0x1a}, bolt.KeySize)
	for _, name := range []string{"backup.db", "clinic.db"} {
		if text := learnedIn(t, in(name), key); text != learned {
			t.Errorf("%s: got %q, want the learned models", name, text)
		}
	}
	db(one, "rekey", in("clinic.db"), "--new-key", in("two.key"))
	refused("another one", one, "check", in("clinic.db"))
	want(db(two, "check", in("clinic.db")), whole)
	for _, command := range []string{"check", "compact"} {
		refused("no such file", nil, command, in("none.db"))
	}

	files, err := os.ReadDir(in("backup.db.audio"))
	if err != nil || len(files) != 2 {
		t.Fatalf("got %v and error %v", files, err)
	}
	if err := os.WriteFile(filepath.Join(in("backup.db.audio"), files[0].Name()), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("audio is", one, "check", in("backup.db"))
	refused("is not restored", one, "restore", in("backup.db"), in("again.db"))
	if _, err := os.Stat(in("again.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v: a backup with faults was restored", err)
	}
}

// A database of which one record is damaged is copied but for that record, with
// what was learned from its labels.
func TestDBWithADamagedRecord(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	write(t, in("store.key"), []byte(strings.Repeat("1a", secretSize)))
	st, err := bolt.Open(in("plain.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	learned := `{"format":"voicescreen-learned/1","models":{"depression":[` + bayesText(t) + `]}}`
	if _, err := st.PutDocument(t.Context(), learnedDocument, 0, []byte(learned)); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, id := range []string{"a", "b", "c"} {
		if err := st.Create(t.Context(), &store.Session{ID: id, UserID: "patient-41", Status: screen.StatusInitiated, CreatedAt: now, UpdatedAt: now}); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	damageFirst(t, in("plain.db"))
	for _, c := range []struct {
		args []string
		want []string
		copy string // "" where none is made
	}{
		{[]string{"encrypt", in("plain.db"), in("encrypted.db"), "--store-key", in("store.key")}, []string{"encrypted.db: 2 sessions", "skipped: 1"}, "encrypted.db"},
		{[]string{"backup", in("plain.db"), in("backup.db")}, []string{"is damaged", "3 sessions"}, "backup.db"},
		{[]string{"restore", in("plain.db"), in("restored.db")}, []string{"is not restored"}, ""},
	} {
		o := cli(t, append([]string{"db"}, c.args...)...)
		for _, want := range c.want {
			if o.code != command.ExitError || !strings.Contains(o.stdout+o.stderr, want) {
				t.Errorf("db %s: got %+v, want code %d and %q", c.args[0], o, command.ExitError, want)
			}
		}
		var key []byte
		if c.copy == "encrypted.db" {
			key = bytes.Repeat([]byte{0x1a}, bolt.KeySize)
		}
		if c.copy != "" && learnedIn(t, in(c.copy), key) != learned {
			t.Errorf("db %s: want the learned models in the copy", c.args[0])
		}
	}
	ok(t, "db", "compact", in("plain.db"))
	if learnedIn(t, in("plain.db"), nil) != learned {
		t.Error("db compact: want the learned models to stay")
	}
}

// learnedDocument is the document of a store that holds the learned models.
const learnedDocument = "learned-models"

// learnedIn returns the learned models of a database.
func learnedIn(t *testing.T, path string, key []byte) string {
	t.Helper()
	st, err := bolt.Open(path, &bolt.Options{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	text, _, err := st.Document(t.Context(), learnedDocument)
	if err := errors.Join(err, st.Close()); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// damageFirst turns over one bit of the first record of a plain database.
func damageFirst(t *testing.T, path string) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		sessions := tx.Bucket([]byte("sessions"))
		k, v := sessions.Cursor().First()
		record := bytes.Clone(v)
		record[len(record)/2] ^= 0x10
		return sessions.Put(k, record)
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// bayesText is a model of depression as it stands in its file.
func bayesText(t *testing.T) string {
	t.Helper()
	shipped, err := shipped.Scorers()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range shipped {
		b, ok := m.(*models.Bayes)
		if !ok || b.File().Category != screen.Depression {
			continue
		}
		var text strings.Builder
		if err := b.File().Write(&text); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	t.Fatal("no shipped model of depression learns")
	return ""
}
