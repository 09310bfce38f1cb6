package bolt

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/store"
)

// formatOne is what stands in testdata/format-1.db.gz, but for the references
// of the audio, which is not there.
func formatOne() map[string]*store.Session {
	sessions := map[string]*store.Session{}
	for i, state := range []store.State{store.Initiated, store.Queued, store.Running, store.Succeeded, store.Failed} {
		at := time.Date(2026, 3, 1, 12, i, 0, 5, time.UTC)
		s := &store.Session{Account: "clinic", ID: state.String(), UserID: "user", State: state, CreatedAt: at, UpdatedAt: at.Add(time.Hour)}
		if state != store.Initiated {
			s.Product, s.SubmittedAt, s.Channel = store.DepressionAnxiety, at.Add(time.Minute), 2
		}
		switch state {
		case store.Queued, store.Running:
			s.Due = at.Add(2 * time.Hour)
		case store.Succeeded:
			s.Scores = []models.Score{{Category: models.Anxiety, Model: "m", Version: "1", Probability: 0.25, Low: 0.125, High: 0.5, Decision: models.Positive, Severity: 2, Coverage: 1}}
			s.Features = map[string]float64{"a": 1, "b": 2}
			s.Labels = store.Labels{PHQ9: []int{0, 1, 2, 3, 0, 1, 2, 3, 0}, UpdatedAt: at}
		case store.Failed:
			s.Failure = &store.Failure{Code: "c", Message: "m", Data: map[string]float64{"x": 1}}
		}
		sessions[s.ID] = s
	}
	return sessions
}

// unpack writes a database that a program of a former format made, and its key
// file if there is one, and returns its path.
func unpack(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	for _, suffix := range []string{"", suffixSlots} {
		f, err := os.Open("testdata/" + name + suffix + ".gz")
		if errors.Is(err, os.ErrNotExist) && suffix != "" {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path+suffix, data)
	}
	return path
}

func TestAStoreOfFormatOneIsUpgraded(t *testing.T) {
	t.Parallel()
	path := unpack(t, "format-1.db")
	for range 2 { // upgraded, and then of this format
		st, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for id, want := range formatOne() {
			got, err := st.Get(t.Context(), "clinic", id)
			if err != nil {
				t.Fatal(err)
			}
			if (got.Audio != "") != (got.State == store.Queued || got.State == store.Running) {
				t.Errorf("%s: got audio %q", id, got.Audio)
			}
			got.Audio = ""
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		}
		if n, err := st.Due(t.Context()); n != 2 || err != nil {
			t.Errorf("Due: got %d and error %v, want 2", n, err)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
	st, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	at := formatOne()["succeeded"].UpdatedAt
	if list, err := st.Expire(t.Context(), at, 9); len(list) != 2 || err != nil { // initiated and succeeded; failed came later
		t.Errorf("Expire: got %v and error %v, want 2", list, err)
	}
	for id, want := range map[string]error{"initiated": store.ErrNotFound, "queued": nil, "running": nil, "succeeded": store.ErrNotFound, "failed": nil} {
		if _, err := st.Get(t.Context(), "clinic", id); !errors.Is(err, want) {
			t.Errorf("Get of %s: got error %v, want %v", id, err, want)
		}
	}
}

func TestADamagedRecordDoesNotStopAnUpgrade(t *testing.T) {
	t.Parallel()
	path := unpack(t, "format-1.db")
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketSessions).Put(plain.primaryKey("clinic", "failed"), []byte("damaged"))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	st, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if list, err := st.Expire(t.Context(), time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC), 9); len(list) != 2 || err != nil {
		t.Errorf("Expire: got %v and error %v, want those that are whole, 2", list, err)
	}
	if err := st.Delete(t.Context(), "clinic", "failed"); err != nil {
		t.Errorf("Delete of the damaged record: %v", err)
	}
}

// formatTwo is what stands in testdata/format-2.db.gz and format-3.db.gz.
func formatTwo() map[string]*store.Session {
	sessions := formatOne()
	s := sessions["succeeded"]
	s.Scores[0].Segments = []models.Segment{{Start: 0, End: 4, Probability: 0.5}}
	s.Scores[0].Contributions = []models.Contribution{{Feature: "a", Value: 1, Unit: "Hz", Logits: -0.5}}
	s.Scores[0].Cautions, s.Scores[0].Prior, s.Scores[0].Baseline = []models.Caution{models.Noisy}, 0.5, 3
	s.Notify, s.Notices = s.UpdatedAt.Add(time.Hour), 2
	return sessions
}

// TestStoresOfFormatsTwoAndThreeAreUpgraded reads stores of which a session has
// all in one record, and changes some of them.
func TestStoresOfFormatsTwoAndThreeAreUpgraded(t *testing.T) {
	t.Parallel()
	for name, key := range map[string][]byte{"format-2.db": nil, "format-3.db": testKey} {
		t.Run(name, func(t *testing.T) {
			path := unpack(t, name)
			if key != nil {
				before := read(t, path)
				if _, err := Open(path, nil); !errors.Is(err, ErrKey) {
					t.Fatalf("without its key: got error %v, want %v", err, ErrKey)
				}
				if !bytes.Equal(read(t, path), before) {
					t.Error("a store that is refused was changed")
				}
			}
			sessions := formatTwo()
			for round := range 3 { // upgraded, of this format, and then with sessions that changed
				if c, faults := checked(t, path, key); len(faults) != 0 || c.Sessions != len(sessions) {
					t.Fatalf("round %d: got %d sessions and faults %q, want %d and none", round, c.Sessions, faults, len(sessions))
				}
				st, err := Open(path, &Options{Key: key})
				if err != nil {
					t.Fatal(err)
				}
				for id, want := range sessions {
					got, err := st.Get(t.Context(), "clinic", id)
					if err != nil || !reflect.DeepEqual(got, want) {
						t.Errorf("round %d: got %+v and error %v, want %+v", round, got, err, want)
					}
					if round == 0 {
						continue
					}
					given, err := st.Update(t.Context(), "clinic", id, func(s *store.Session) error { s.Attempts++; return nil })
					if err != nil || given.Analyzed() {
						t.Errorf("round %d: Update: got error %v, and scores: %v, want none of both", round, err, given.Analyzed())
					}
					want.Attempts++
				}
				shut(t, st)
			}
			st, err := Open(path, &Options{Key: key})
			if err != nil {
				t.Fatal(err)
			}
			for id := range sessions {
				if err := st.Delete(t.Context(), "clinic", id); err != nil {
					t.Error(err)
				}
			}
			shut(t, st)
			if c, faults := checked(t, path, key); len(faults) != 0 || c.Sessions != 0 {
				t.Errorf("got %d sessions and faults %q, want nothing left", c.Sessions, faults)
			}
		})
	}
}
