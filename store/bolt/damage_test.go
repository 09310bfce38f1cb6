package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
)

// damaged returns a store with three sessions of a user, s0 to s2, which have audio and
// are due one after the other. The record of s0 is damaged.
func damaged(t *testing.T, key []byte) (*Store, []*store.Session) {
	t.Helper()
	st := openedWith(t, key)
	var sessions []*store.Session
	for i, id := range []string{"s0", "s1", "s2"} {
		s := sample()
		s.ID, s.Due = id, s.CreatedAt.Add(time.Duration(i)*time.Second)
		var err error
		if s.Audio, err = st.Audio().Put(t.Context(), strings.NewReader("audio")); err != nil {
			t.Fatal(err)
		}
		if err := st.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, s)
	}
	damage(t, st, "s0")
	return st, sessions
}

// damage flips a bit of the record of a session of the account "clinic".
func damage(t *testing.T, st *Store, id string) {
	t.Helper()
	err := st.db.Update(func(tx *bbolt.Tx) error {
		b, k := tx.Bucket(bucketSessions), st.vault.primaryKey("clinic", id)
		record := []byte(string(b.Get(k)))
		record[len(record)/2] ^= 0x10
		return b.Put(k, record)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestADamagedRecordIsAnError(t *testing.T) {
	t.Parallel()
	eachKey(t, func(t *testing.T, key []byte) {
		st, sessions := damaged(t, key)
		_, getErr := st.Get(t.Context(), "clinic", "s0")
		_, updateErr := st.Update(t.Context(), "clinic", "s0", func(*store.Session, time.Time) error { t.Error("change was called"); return nil })
		_, listErr := st.List(t.Context(), "clinic", sessions[0].UserID, nil, 9)
		for name, err := range map[string]error{"Get": getErr, "Update": updateErr, "List": listErr} {
			if !errors.Is(err, ErrCorrupt) || errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: got error %v, want %v", name, err, ErrCorrupt)
			}
			if err != nil && strings.Contains(err.Error(), "user") {
				t.Errorf("%s: the error %q contains a part of the record", name, err)
			}
		}
		if _, err := st.Get(t.Context(), "clinic", "s1"); err != nil {
			t.Errorf("Get of another session: %v", err)
		}
	})
}

func TestADamagedRecordDoesNotBlockTheQueue(t *testing.T) {
	t.Parallel()
	eachKey(t, func(t *testing.T, key []byte) {
		st, sessions := damaged(t, key)
		st.now = func() time.Time { return sessions[2].Due }
		for _, want := range []string{"s1", "s2"} {
			s, err := st.Next(t.Context(), func(s *store.Session, _ time.Time) error { s.Due = time.Time{}; return nil })
			if err != nil || s.ID != want {
				t.Fatalf("got %v and error %v, want %s", s, err, want)
			}
		}
		if _, err := st.Next(t.Context(), func(*store.Session, time.Time) error { return nil }); !errors.Is(err, ErrCorrupt) {
			t.Errorf("got error %v, want %v", err, ErrCorrupt)
		}
	})
}

// TestAScanSkipsDamagedRecords damages the first record of a scan, two in sequence,
// and the last one, and scans in pages of every size.
func TestAScanSkipsDamagedRecords(t *testing.T) {
	t.Parallel()
	st := opened(t)
	var want []string
	bad := map[int]bool{0: true, 3: true, 4: true, 9: true}
	for i := range 10 {
		s := sample()
		s.ID, s.Audio = fmt.Sprint("s", i), ""
		if err := st.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if bad[i] {
			damage(t, st, s.ID)
			continue
		}
		want = append(want, s.ID)
	}
	for limit := 1; limit < 12; limit++ {
		var got []string
		var left store.DamagedError
		for after := ""; ; {
			list, err := st.Scan(t.Context(), after, limit)
			if err != nil && (!errors.Is(err, ErrCorrupt) || !errors.Is(err, store.ErrDamaged)) {
				t.Fatalf("got error %v, want %v", err, ErrCorrupt)
			}
			if err := left.Add(err); err != nil {
				t.Fatal(err)
			}
			for _, s := range list {
				got, after = append(got, s.ID), s.ID
			}
			if len(list) < limit {
				break
			}
		}
		if !slices.Equal(got, want) || left.Records != len(bad) {
			t.Errorf("pages of %d: got %q and %d damaged, want %q and %d", limit, got, left.Records, want, len(bad))
		}
	}
}

// TestACopyLeavesOutDamagedRecords copies a store with a damaged record: the error
// counts it.
func TestACopyLeavesOutDamagedRecords(t *testing.T) {
	t.Parallel()
	from, _ := damaged(t, nil)
	to := opened(t)
	n, err := Copy(t.Context(), to, from)
	var left *store.DamagedError
	if n != 2 || !errors.As(err, &left) || left.Records != 1 {
		t.Errorf("got %d sessions and error %v, want 2 and 1 left out", n, err)
	}
}

// TestACopyLeavesOutSessionsWithoutAudio copies a store with a session whose audio is
// missing and one whose audio is cut short.
func TestACopyLeavesOutSessionsWithoutAudio(t *testing.T) {
	t.Parallel()
	path, sessions := filled(t, 4)
	from := reopen(t, path)
	cut(t, from.audio.Path(sessions[1].Audio), int64(audioHeader)+3)
	if err := os.Remove(from.audio.Path(sessions[2].Audio)); err != nil {
		t.Fatal(err)
	}
	to := opened(t)
	n, err := Copy(t.Context(), to, from)
	var left *store.DamagedError
	if n != 2 || !errors.As(err, &left) || left.Records != 2 || !strings.Contains(err.Error(), "its audio") {
		t.Errorf("got %d sessions and error %v, want 2 and 2 left out", n, err)
	}
	for i, s := range sessions {
		_, err := to.Get(t.Context(), s.Account, s.ID)
		if copied := i == 0 || i == 3; copied != (err == nil) {
			t.Errorf("session %s: got error %v", s.ID, err)
		}
	}
	if names := audioFiles(t, to); len(names) != 2 {
		t.Errorf("got audio %v, want 2", names)
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
			eachKey(t, func(t *testing.T, key []byte) {
				st, sessions := damaged(t, key)
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
					for _, bucket := range [][]byte{bucketSessions, bucketUsers, bucketDue, bucketAudio, bucketNotices, bucketKept} {
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
		})
	}
}

// TestStaleIndexEntriesAreErrors puts malformed and stale entries into the indexes.
func TestStaleIndexEntriesAreErrors(t *testing.T) {
	t.Parallel()
	eachKey(t, func(t *testing.T, key []byte) {
		st := openedWith(t, key)
		s := sample()
		s.Due = s.CreatedAt
		if err := st.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		primary := st.vault.primaryKey(s.Account, s.ID)
		st.now = func() time.Time { return s.CreatedAt.Add(24 * time.Hour) }
		err := st.db.Update(func(tx *bbolt.Tx) error {
			due := tx.Bucket(bucketDue)
			return errors.Join(
				due.Put([]byte("short"), nil),
				due.Put(dueKey(s.Due, st.vault.primaryKey("clinic", "gone")), nil),
				due.Put(dueKey(s.Due.Add(-time.Microsecond), primary), nil),
				tx.Bucket(bucketNotices).Put(st.vault.appendSum(nil, "clinic"), nil),
				tx.Bucket(bucketNotices).Put(st.vault.noticeKey("clinic", s.CreatedAt, primary), nil),
				tx.Bucket(bucketKept).Put([]byte("\x00short"), nil),
				tx.Bucket(bucketKept).Put(dueKey(s.CreatedAt, st.vault.primaryKey("clinic", "gone")), nil),
				tx.Bucket(bucketKept).Put(dueKey(s.CreatedAt, primary), nil),
				tx.Bucket(bucketUsers).Put(st.vault.userKey("clinic", "somebody", s.Cursor()), primary),
				tx.Bucket(bucketUsers).Put(st.vault.userKey("clinic", "nobody", s.Cursor()), st.vault.primaryKey("clinic", "gone")),
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
		got, err := st.Next(t.Context(), func(s *store.Session, _ time.Time) error { s.Due = time.Time{}; return nil })
		if err != nil || got.ID != s.ID {
			t.Errorf("Next: got %v and error %v, want the session that is due", got, err)
		}
		if _, err := st.Next(t.Context(), func(*store.Session, time.Time) error { return nil }); !errors.Is(err, ErrCorrupt) {
			t.Errorf("Next: got error %v, want %v", err, ErrCorrupt)
		}
		got, err = st.NextNotice(t.Context(), nil, func(s *store.Session, _ time.Time) error { s.Notify = time.Time{}; return nil })
		if err != nil || got.ID != s.ID {
			t.Errorf("NextNotice: got %v and error %v, want the session that has a notice", got, err)
		}
		if _, err := st.NextNotice(t.Context(), nil, func(*store.Session, time.Time) error { return nil }); !errors.Is(err, ErrCorrupt) {
			t.Errorf("NextNotice: got error %v, want %v", err, ErrCorrupt)
		}
		if list, err := st.Expire(t.Context(), st.now().Sub(s.UpdatedAt)+time.Microsecond, 9); len(list) != 0 || err != nil {
			t.Errorf("Expire before the age: got %v and error %v, want 0", list, err)
		}
		if list, err := st.Expire(t.Context(), st.now().Sub(s.UpdatedAt), 9); len(list) != 1 || err != nil {
			t.Errorf("Expire: got %v and error %v, want 1", list, err)
		}
		err = st.db.View(func(tx *bbolt.Tx) error {
			if n := tx.Bucket(bucketKept).Stats().KeyN; n != 0 {
				t.Errorf("got %d entries of what is kept, want none", n)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestOnlyDamagedScoresAreLost damages the record of scores and features of a session.
// Calls that read it fail, all others work, and a change that sets scores or features
// replaces it.
func TestOnlyDamagedScoresAreLost(t *testing.T) {
	t.Parallel()
	eachKey(t, func(t *testing.T, key []byte) {
		for name, damage := range map[string]func(analyses *bbolt.Bucket, primary, other []byte) error{
			"missing": func(b *bbolt.Bucket, primary, _ []byte) error { return b.Delete(primary) },
			"empty":   func(b *bbolt.Bucket, primary, _ []byte) error { return b.Put(primary, nil) },
			"another's": func(b *bbolt.Bucket, primary, other []byte) error {
				return b.Put(primary, bytes.Clone(b.Get(other)))
			},
		} {
			t.Run(name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "test.db")
				st, err := Open(path, &Options{Key: key})
				if err != nil {
					t.Fatal(err)
				}
				defer st.Close()
				damaged, whole := sample(), sample()
				whole.ID = "other"
				if err := errors.Join(st.Create(t.Context(), damaged), st.Create(t.Context(), whole)); err != nil {
					t.Fatal(err)
				}
				primary, other := st.vault.primaryKey(damaged.Account, damaged.ID), st.vault.primaryKey(whole.Account, whole.ID)
				err = st.db.Update(func(tx *bbolt.Tx) error { return damage(tx.Bucket(bucketAnalyses), primary, other) })
				if err != nil {
					t.Fatal(err)
				}
				if _, err := st.Get(t.Context(), damaged.Account, damaged.ID); !errors.Is(err, ErrCorrupt) {
					t.Errorf("Get: got error %v, want %v", err, ErrCorrupt)
				}
				var left *store.DamagedError
				if list, err := st.Scan(t.Context(), "", 9); len(list) != 1 || !errors.As(err, &left) || left.Records != 1 {
					t.Errorf("Scan: got %d sessions and error %v, want the other one and a damaged one", len(list), err)
				}
				update := func(change func(s *store.Session)) {
					t.Helper()
					_, err := st.Update(t.Context(), damaged.Account, damaged.ID, func(s *store.Session, _ time.Time) error { change(s); return nil })
					if err != nil {
						t.Errorf("Update: %v", err)
					}
				}
				update(func(s *store.Session) { s.Labels.PHQ9 = []int{3} })
				if _, err := st.Get(t.Context(), damaged.Account, damaged.ID); !errors.Is(err, ErrCorrupt) {
					t.Errorf("Get after a label: got error %v, want %v", err, ErrCorrupt)
				}
				update(func(s *store.Session) { s.Features = map[string]float64{"a": 1} })
				got, err := st.Get(t.Context(), damaged.Account, damaged.ID)
				if err != nil || got.Scores != nil || len(got.Features) != 1 || len(got.Labels.PHQ9) != 1 {
					t.Errorf("Get after new features: got %+v and error %v", got, err)
				}
				if err := st.Delete(t.Context(), damaged.Account, damaged.ID); err != nil {
					t.Errorf("Delete: %v", err)
				}
				if _, err := st.Get(t.Context(), whole.Account, whole.ID); err != nil {
					t.Errorf("Get of the other session: %v", err)
				}
			})
		}
	})
}
