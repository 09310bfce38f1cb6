package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio"
)

// TestRecordsAndAudioAreBoundToTheirPlace exchanges records and audio of two sessions.
func TestRecordsAndAudioAreBoundToTheirPlace(t *testing.T) {
	t.Parallel()
	path, sessions := filled(t, 2)
	st := reopen(t, path)
	a, b := sessions[0], sessions[1]
	files := [2]string{filepath.Join(st.path+suffixAudioDir, a.Audio+audio.Suffix), filepath.Join(st.path+suffixAudioDir, b.Audio+audio.Suffix)}
	first := read(t, files[0])
	write(t, files[0], read(t, files[1]))
	write(t, files[1], first)
	err := st.db.Update(func(tx *bbolt.Tx) error {
		records := tx.Bucket(bucketSessions)
		keyA, keyB := st.vault.primaryKey(a.Account, a.ID), st.vault.primaryKey(b.Account, b.ID)
		recordA := bytes.Clone(records.Get(keyA))
		if _, _, err := st.vault.open(keyB, recordA); !errors.Is(err, ErrCorrupt) { // without the checksum inside
			t.Errorf("a record under another key: got error %v, want %v", err, ErrCorrupt)
		}
		_, sealedA, err := st.vault.open(keyA, recordA)
		if err != nil {
			return err
		}
		for of, analysis := range map[string][]byte{"another session": tx.Bucket(bucketAnalyses).Get(keyB), "none, but the session's record": recordA, "nobody": nil} {
			if _, err := st.vault.openAnalysis(sealedA, keyA, analysis); !errors.Is(err, ErrCorrupt) { // without the checksum inside
				t.Errorf("the scores of %s: got error %v, want %v", of, err, ErrCorrupt)
			}
		}
		return errors.Join(records.Put(keyA, bytes.Clone(records.Get(keyB))), records.Put(keyB, recordA))
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions {
		if got, err := st.Get(t.Context(), s.Account, s.ID); !errors.Is(err, ErrCorrupt) {
			t.Errorf("the record of another session: got %v and error %v, want %v", got, err, ErrCorrupt)
		}
		if content, err := readAudio(t, st, s.Audio); !errors.Is(err, ErrCorrupt) {
			t.Errorf("the audio of another session: got %q and error %v, want %v", content, err, ErrCorrupt)
		}
	}
}

// outcome reads sessions from the store at path and returns the number of errors. It
// fails the test if a call returns another session or audio than was stored.
func outcome(t *testing.T, what string, path string, sessions []*store.Session) (faults int) {
	t.Helper()
	st, err := Open(path, &Options{Key: testKey, LockTimeout: -1})
	if err != nil {
		if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrFormat) && !errors.Is(err, ErrKey) {
			t.Errorf("%s: Open: got error %v", what, err)
		}
		return 1
	}
	defer func() { _ = st.Close() }()
	for _, s := range sessions {
		got, err := st.Get(t.Context(), s.Account, s.ID)
		if err == nil && !reflect.DeepEqual(got, s.Clone()) {
			t.Errorf("%s: session %s: got another than was stored", what, s.ID)
		}
		if err != nil {
			faults++
		}
		list, err := st.List(t.Context(), s.Account, s.UserID, nil, 9)
		for _, got := range list {
			if !reflect.DeepEqual(got, s.Clone()) {
				t.Errorf("%s: listing of %s: got another session than was stored", what, s.UserID)
			}
		}
		if err != nil || len(list) != 1 {
			faults++
		}
		content, err := readAudio(t, st, s.Audio)
		if err == nil && content != audioOf(s) {
			t.Errorf("%s: audio of %s: got %q", what, s.ID, content)
		}
		if err != nil {
			faults++
		}
	}
	return faults
}

// TestEveryFlippedBitIsDetected flips every bit, one at a time, of a record, of a record
// of scores, of a slot, of both headers and of an audio file.
func TestEveryFlippedBitIsDetected(t *testing.T) {
	t.Parallel()
	path, sessions := filled(t, 2)
	st := reopen(t, path)
	s := sessions[0]
	primary := st.vault.primaryKey(s.Account, s.ID)
	var record, analysis []byte
	if err := st.view(func(tx *bbolt.Tx) error {
		record = bytes.Clone(tx.Bucket(bucketSessions).Get(primary))
		analysis = bytes.Clone(tx.Bucket(bucketAnalyses).Get(primary))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	_, key, err := st.vault.open(primary, record)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.vault.openAnalysis(key, primary, analysis); err != nil {
		t.Fatal(err)
	}
	for i := range 8 * len(analysis) {
		flip(analysis, i)
		if _, err := st.vault.openAnalysis(key, primary, analysis); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("bit %d of a record of scores: got error %v, want %v", i, err, ErrCorrupt)
		}
		flip(analysis, i)
	}
	for i := range 8 * len(record) {
		flip(record, i)
		if _, _, err := st.vault.open(primary, record); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("bit %d of a record: got error %v, want %v", i, err, ErrCorrupt)
		}
		flip(record, i)
	}
	slot, _ := st.vault.slotOf(primary, record)
	flipFile(t, path+suffixSlots, slotsAt+int64(slot)*slotSize, slotSize, func(i int) {
		if _, err := st.Get(t.Context(), s.Account, s.ID); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("bit %d of a slot: got error %v, want %v", i, err, ErrCorrupt)
		}
	})
	audio := filepath.Join(st.path+suffixAudioDir, s.Audio+audio.Suffix)
	flipFile(t, audio, 0, len(read(t, audio)), func(i int) {
		if _, err := readAudio(t, st, s.Audio); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("bit %d of audio: got error %v, want %v", i, err, ErrCorrupt)
		}
	})
	header := read(t, path+suffixSlots)[:headerSize]
	for i := range 8 * len(header) {
		flip(header, i)
		if _, _, err := openHeader(header, testKey); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("bit %d of a header: got error %v, want %v", i, err, ErrCorrupt)
		}
		flip(header, i)
	}
	flipFile(t, path+suffixSlots, 0, headerSize, func(i int) { // the other copy is used
		if _, _, other, err := readHeaders(st.vault.file.f, testKey); err != nil || other != 0 {
			t.Fatalf("bit %d of a copy of the header: got copy %d damaged and error %v", i, other, err)
		}
	})
	shut(t, st)
	if n := outcome(t, "whole", path, sessions); n != 0 {
		t.Errorf("the store as it was: got %d faults", n)
	}
}

// TestNoBitOfTheDatabaseMakesAWrongAnswer flips bits of a database, whose pages have no
// checksums: sessions may be lost, but no call returns a wrong one.
func TestNoBitOfTheDatabaseMakesAWrongAnswer(t *testing.T) {
	t.Parallel()
	path, sessions := filled(t, 3)
	whole := map[string][]byte{path: read(t, path), path + suffixSlots: read(t, path+suffixSlots)}
	for _, s := range sessions {
		name := filepath.Join(path+".audio", s.Audio+audio.Suffix)
		whole[name] = read(t, name)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	faults := 0
	const trials = 150
	for range trials {
		for _, name := range slices.Sorted(maps.Keys(whole)) {
			write(t, name, whole[name])
		}
		database := bytes.Clone(whole[path])
		used := 0
		for used == 0 { // skips pages that are almost empty
			used = rnd.IntN(len(database))
			if page := used / 4096 * 4096; bytes.Count(database[page:min(page+4096, len(database))], []byte{0}) > 4000 {
				used = 0
			}
		}
		bit := 8*used + rnd.IntN(8)
		flip(database, bit)
		write(t, path, database)
		faults += min(outcome(t, fmt.Sprintf("bit %d of the database", bit), path, sessions), 1)
	}
	if faults < trials/20 {
		t.Errorf("got %d faults in %d trials, want at least %d", faults, trials, trials/20)
	}
}

func flip(b []byte, bit int) { b[bit/8] ^= 1 << (bit % 8) }

// flipFile flips each bit of a part of a file, calls f, and restores the bit.
func flipFile(t *testing.T, name string, off int64, n int, f func(bit int)) {
	t.Helper()
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	b := make([]byte, n)
	if _, err := file.ReadAt(b, off); err != nil {
		t.Fatal(err)
	}
	for i := range 8 * n {
		for _, call := range []func(){func() { f(i) }, func() {}} {
			flip(b, i)
			if _, err := file.WriteAt(b[i/8:i/8+1], off+int64(i/8)); err != nil {
				t.Fatal(err)
			}
			call()
		}
	}
}

func FuzzOpenRecord(f *testing.F) {
	path, sessions := filled(f, 1)
	st := reopen(f, path)
	primary := st.vault.primaryKey(sessions[0].Account, sessions[0].ID)
	var record []byte
	if err := st.view(func(tx *bbolt.Tx) error {
		record = bytes.Clone(tx.Bucket(bucketSessions).Get(primary))
		return nil
	}); err != nil {
		f.Fatal(err)
	}
	f.Add(record)
	f.Add(record[:sealedPrefix])
	f.Add(append([]byte{sealedVersion}, bytes.Repeat([]byte{0xff}, 100)...))
	_, key, err := st.vault.open(primary, record)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := st.vault.openAnalysis(key, primary, b); !errors.Is(err, ErrCorrupt) {
			t.Errorf("read as scores: got error %v, want %v", err, ErrCorrupt)
		}
		var err error
		cost.Check(t, len(b), func() { _, _, err = st.vault.open(primary, b) })
		if (err == nil) != bytes.Equal(b, record) {
			t.Errorf("got error %v for %x", err, b)
		} else if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("got error %v, want %v", err, ErrCorrupt)
		}
	})
}
