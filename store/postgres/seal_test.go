package postgres_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/postgres"
	"github.com/voicescreen/voicescreen/store/storetest"
)

// testKey is the key of the encrypted stores of tests.
var testKey = bytes.Repeat([]byte{0x5a}, postgres.KeySize)

func TestEncryptedStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, now func() time.Time) store.Store {
		return open(t, database(t), &postgres.Options{Now: now, Key: testKey})
	})
}

// confidential returns a session, audio and a document with a text in each place
// that is sealed.
func confidential(t *testing.T, st *postgres.Store) (ref string) {
	t.Helper()
	ref, err := st.Audio().Put(t.Context(), strings.NewReader(strings.Repeat("canary ", 100_000)))
	if err != nil {
		t.Fatal(err)
	}
	s := newSession("s")
	s.Audio = ref
	s.Metadata = screen.Metadata{Zipcode: "canary"}
	s.Labels = screen.Labels{PHQ9: []int{77777777}}
	s.Failure = &screen.Failure{Code: "canary", Message: "canary"}
	s.Features = map[string]float64{"canary": 1}
	s.Scores = []screen.Score{{Category: screen.Depression, Model: "canary"}}
	if err := st.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if _, err := st.PutDocument(t.Context(), "keys", 0, []byte("canary")); err != nil {
		t.Fatal(err)
	}
	return ref
}

// content returns everything that the tables hold, as texts, and bytes as hex.
func content(t *testing.T, url string) string {
	t.Helper()
	var all strings.Builder
	for _, table := range []string{"sessions", "audio", "audio_chunks", "documents", "encryption"} {
		out, err := started(t).SQL(t.Context(), databaseName(url), "SELECT * FROM voicescreen."+table)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(out)
	}
	return all.String()
}

func TestNothingConfidentialIsVisibleInAnEncryptedStore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		key     []byte
		visible bool
	}{{"plain", nil, true}, {"encrypted", testKey, false}} {
		url := database(t)
		st := open(t, url, &postgres.Options{Key: c.key})
		confidential(t, st)
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		text := content(t, url)
		for _, canary := range []string{"canary", hex.EncodeToString([]byte("canary")), "77777777"} {
			if got := strings.Contains(text, canary); got != c.visible {
				t.Errorf("%s: %q is visible: %v, want %v", c.name, canary, got, c.visible)
			}
		}
	}
}

func TestWhatWasChangedInAnEncryptedStoreIsDamaged(t *testing.T) {
	t.Parallel()
	url := database(t)
	st := open(t, url, &postgres.Options{Key: testKey})
	defer st.Close()
	ref := confidential(t, st)
	other := newSession("other")
	other.Features = map[string]float64{"f": 1}
	if err := st.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if _, err := st.PutDocument(t.Context(), "hooks", 0, []byte("other")); err != nil {
		t.Fatal(err)
	}
	get := func() error { _, err := st.Get(t.Context(), "clinic", "s"); return err }
	head := func() error { _, err := st.Head(t.Context(), "clinic", "s"); return err }
	document := func() error { _, _, err := st.Document(t.Context(), "keys"); return err }
	sound := func() error { _, err := readAudio(t.Context(), st, ref); return err }
	const flip = "set_byte(%[1]s, length(%[1]s) - 1, get_byte(%[1]s, length(%[1]s) - 1) # 1)"
	session, audio, chunk := "voicescreen.sessions", "voicescreen.audio", "voicescreen.audio_chunks"
	for _, c := range []struct {
		name, table, column, value string
		call                       func() error
	}{
		{"a bit of the fields", session, "sealed", fmt.Sprintf(flip, "sealed"), head},
		{"a bit of the analysis", session, "analysis", fmt.Sprintf(flip, "analysis"), get},
		{"a bit of the key", session, "key", fmt.Sprintf(flip, "key"), head},
		{"no fields", session, "sealed", "NULL", head},
		{"no key", session, "key", "NULL", head},
		{"the fields of another", session, "sealed", "(SELECT sealed FROM voicescreen.sessions WHERE id = 'other')", head},
		{"the analysis of another", session, "analysis", "(SELECT analysis FROM voicescreen.sessions WHERE id = 'other')", get},
		{"the fields as analysis", session, "analysis", "sealed", get},
		{"the key of another", session, "key", "(SELECT key FROM voicescreen.sessions WHERE id = 'other')", head},
		{"a bit of a recording", chunk, "data", fmt.Sprintf(flip, "data"), sound},
		{"a recording's chunks in another order", chunk, "number", "2 - number", sound},
		{"a recording cut short", audio, "chunks", "chunks - 1", sound},
		{"a bit of a recording's key", audio, "key", fmt.Sprintf(flip, "key"), sound},
		{"a document of another name", "voicescreen.documents", "data", "(SELECT data FROM voicescreen.documents WHERE name = 'hooks')", document},
		{"a document of another revision", "voicescreen.documents", "revision", "revision + 1", document},
	} {
		if err := c.call(); err != nil {
			t.Fatalf("%s: before: %v", c.name, err)
		}
		backup := fmt.Sprintf("CREATE TABLE backup AS SELECT * FROM %s", c.table)
		change := fmt.Sprintf("ALTER TABLE %[1]s DISABLE TRIGGER ALL; UPDATE %[1]s SET %[2]s = %[3]s", c.table, c.column, c.value)
		if c.table == chunk { // several rows: the numbers must stay unique
			change = fmt.Sprintf("ALTER TABLE %[1]s DISABLE TRIGGER ALL; CREATE TABLE changed AS SELECT * FROM %[1]s; UPDATE changed SET %[2]s = %[3]s; DELETE FROM %[1]s; INSERT INTO %[1]s SELECT * FROM changed; DROP TABLE changed", c.table, c.column, c.value)
		}
		restore := fmt.Sprintf("DELETE FROM %[1]s; INSERT INTO %[1]s SELECT * FROM backup; DROP TABLE backup; ALTER TABLE %[1]s ENABLE TRIGGER ALL", c.table)
		for i, sql := range []string{backup + "; " + change, restore} {
			if _, err := started(t).SQL(t.Context(), databaseName(url), sql); err != nil {
				t.Fatal(err)
			}
			if err := c.call(); i == 0 && !errors.Is(err, store.ErrDamaged) {
				t.Errorf("%s: got error %v, want %v", c.name, err, store.ErrDamaged)
			}
		}
	}
}

func TestAStoreOpensWithItsKeyAlone(t *testing.T) {
	t.Parallel()
	const pooled = "&pool_max_conns=3" // as the strings of servers have it
	other := bytes.Repeat([]byte{1}, postgres.KeySize)
	encrypted, plain := database(t), database(t)
	for url, key := range map[string][]byte{encrypted: testKey, plain: nil} {
		st := open(t, url, &postgres.Options{Key: key})
		confidential(t, st)
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(name, url string, key []byte) {
		t.Helper()
		st, err := postgres.Open(t.Context(), url, &postgres.Options{Key: key})
		if err == nil {
			_ = st.Close()
		}
		if !errors.Is(err, postgres.ErrKey) {
			t.Errorf("%s: got error %v, want %v", name, err, postgres.ErrKey)
		}
	}
	refused("without a key", encrypted, nil)
	refused("with another key", encrypted, other)
	refused("with a short key", encrypted, other[1:])
	refused("a plain store with a key", plain, testKey)
	for name, err := range map[string]error{
		"with another key": postgres.Rekey(t.Context(), encrypted, other, testKey),
		"to a short key":   postgres.Rekey(t.Context(), encrypted, testKey, other[1:]),
		"a plain store":    postgres.Rekey(t.Context(), plain, testKey, other),
	} {
		if !errors.Is(err, postgres.ErrKey) {
			t.Errorf("Rekey %s: got error %v, want %v", name, err, postgres.ErrKey)
		}
	}
	if err := postgres.Rekey(t.Context(), encrypted+pooled, testKey, other); err != nil {
		t.Fatal(err)
	}
	refused("with the former key", encrypted, testKey)
	st := open(t, encrypted, &postgres.Options{Key: other})
	defer st.Close()
	if s, err := st.Get(t.Context(), "clinic", "s"); err != nil || s.Metadata.Zipcode != "canary" {
		t.Errorf("after Rekey: got %+v and error %v", s, err)
	}
}
