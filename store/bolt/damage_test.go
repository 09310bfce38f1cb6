package bolt

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
)

// damaged returns a store with three sessions of a user, s0 to s2, that are due
// one after the other and have audio; the record of s0 is damaged.
func damaged(t *testing.T) (*Store, []*store.Session) {
	t.Helper()
	st := opened(t)
	var sessions []*store.Session
	for i, id := range []string{"s0", "s1", "s2"} {
		s := sample()
		s.ID, s.Due = id, s.CreatedAt.Add(time.Duration(i)*time.Second)
		var err error
		if s.Audio, err = st.PutAudio(t.Context(), strings.NewReader("audio")); err != nil {
			t.Fatal(err)
		}
		if err := st.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, s)
	}
	err := st.db.Update(func(tx *bbolt.Tx) error {
		b, k := tx.Bucket(bucketSessions), primaryKey("clinic", "s0")
		record := []byte(string(b.Get(k)))
		record[len(record)/2] ^= 0x10
		return b.Put(k, record)
	})
	if err != nil {
		t.Fatal(err)
	}
	return st, sessions
}

func TestADamagedRecordIsAnErrorAndNeverAnAnswer(t *testing.T) {
	t.Parallel()
	st, sessions := damaged(t)
	_, getErr := st.Get(t.Context(), "clinic", "s0")
	_, updateErr := st.Update(t.Context(), "clinic", "s0", func(*store.Session) error { t.Error("change was called"); return nil })
	_, listErr := st.List(t.Context(), "clinic", sessions[0].UserID, nil, 9)
	for name, err := range map[string]error{"Get": getErr, "Update": updateErr, "List": listErr} {
		if !errors.Is(err, ErrCorrupt) || errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: got error %v, want %v", name, err, ErrCorrupt)
		}
		if err != nil && strings.Contains(err.Error(), "user") {
			t.Errorf("%s: the error %q says what stood in the record", name, err)
		}
	}
	if _, err := st.Get(t.Context(), "clinic", "s1"); err != nil {
		t.Errorf("Get of another session: %v", err)
	}
}

func TestADamagedRecordDoesNotHoldUpTheQueue(t *testing.T) {
	t.Parallel()
	st, sessions := damaged(t)
	late := sessions[2].Due
	for _, want := range []string{"s1", "s2"} {
		s, err := st.Next(t.Context(), late, func(s *store.Session) error { s.Due = time.Time{}; return nil })
		if err != nil || s.ID != want {
			t.Fatalf("got %v and error %v, want %s", s, err, want)
		}
	}
	if _, err := st.Next(t.Context(), late, func(*store.Session) error { return nil }); !errors.Is(err, ErrCorrupt) {
		t.Errorf("got error %v, want %v", err, ErrCorrupt)
	}
}

func TestADamagedRecordCanBeErased(t *testing.T) {
	t.Parallel()
	for name, erase := range map[string]func(st *Store, user string) error{
		"Delete": func(st *Store, _ string) error { return st.Delete(t.Context(), "clinic", "s0") },
		"Forget": func(st *Store, user string) error {
			n, err := st.Forget(t.Context(), "clinic", user)
			if n != 3 {
				t.Errorf("Forget: got %d sessions, want 3", n)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			st, sessions := damaged(t)
			if err := erase(st, sessions[0].UserID); err != nil {
				t.Fatal(err)
			}
			left := 2
			if name == "Forget" {
				left = 0
			}
			if _, err := st.Get(t.Context(), "clinic", "s0"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("Get: got error %v, want %v", err, store.ErrNotFound)
			}
			if list, err := st.List(t.Context(), "clinic", sessions[0].UserID, nil, 9); len(list) != left || err != nil {
				t.Errorf("List: got %d sessions and error %v, want %d", len(list), err, left)
			}
			if n, err := st.Due(t.Context()); n != left || err != nil {
				t.Errorf("Due: got %d and error %v, want %d", n, err, left)
			}
			if names := audioFiles(t, st); len(names) != left {
				t.Errorf("got audio %v, want %d", names, left)
			}
			err := st.db.View(func(tx *bbolt.Tx) error {
				for _, bucket := range [][]byte{bucketSessions, bucketUsers, bucketDue, bucketAudio} {
					if n := tx.Bucket(bucket).Stats().KeyN; n != left {
						t.Errorf("bucket %s: got %d entries, want %d", bucket, n, left)
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestIndexesThatLieAreErrors puts entries into the indexes that no program
// writes.
func TestIndexesThatLieAreErrors(t *testing.T) {
	t.Parallel()
	st := opened(t)
	s := sample()
	s.Due = s.CreatedAt
	if err := st.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	primary := primaryKey(s.Account, s.ID)
	late := s.CreatedAt.Add(time.Hour)
	err := st.db.Update(func(tx *bbolt.Tx) error {
		due := tx.Bucket(bucketDue)
		return errors.Join(
			due.Put([]byte("short"), nil),
			due.Put(dueKey(s.Due, primaryKey("clinic", "gone")), nil),
			due.Put(dueKey(s.Due.Add(-1), primary), nil),
			tx.Bucket(bucketUsers).Put(userKey("clinic", "somebody", s.Cursor()), primary),
			tx.Bucket(bucketUsers).Put(userKey("clinic", "nobody", s.Cursor()), primaryKey("clinic", "gone")),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{"somebody", "nobody"} {
		if list, err := st.List(t.Context(), "clinic", user, nil, 9); !errors.Is(err, ErrCorrupt) || errors.Is(err, store.ErrNotFound) {
			t.Errorf("List of %s: got %d sessions and error %v, want %v", user, len(list), err, ErrCorrupt)
		}
	}
	got, err := st.Next(t.Context(), late, func(s *store.Session) error { s.Due = time.Time{}; return nil })
	if err != nil || got.ID != s.ID {
		t.Errorf("Next: got %v and error %v, want the session that is due", got, err)
	}
	if _, err := st.Next(t.Context(), late, func(*store.Session) error { return nil }); !errors.Is(err, ErrCorrupt) {
		t.Errorf("Next: got error %v, want %v", err, ErrCorrupt)
	}
}
