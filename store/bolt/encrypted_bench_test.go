package bolt_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// BenchmarkEncryption compares an encrypted store with a plain one in the calls of the
// service: creating and deleting sessions, reading results, storing and reading audio.
func BenchmarkEncryption(b *testing.B) {
	for _, c := range []struct {
		name string
		key  []byte
	}{{"plain", nil}, {"encrypted", testKey}} {
		with := func(b *testing.B) *bolt.Store {
			st, err := bolt.Open(filepath.Join(b.TempDir(), "test.db"), &bolt.Options{Key: c.key})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = st.Close() })
			return st
		}
		b.Run("Create/clients=64/"+c.name, func(b *testing.B) {
			st := with(b)
			clients(b, 64, func(i int) error { return st.Create(b.Context(), initiated(i)) })
		})
		b.Run("Delete/clients=64/"+c.name, func(b *testing.B) {
			st := with(b)
			fillStore(b, st, b.N+1, result)
			clients(b, 64, func(i int) error { return st.Delete(b.Context(), "clinic", benchID(i)) })
		})
		b.Run("Get/"+c.name, func(b *testing.B) {
			const sessions = 1000
			st := with(b)
			fillStore(b, st, sessions, result)
			clients(b, 2*runtime.GOMAXPROCS(0), func(i int) error {
				_, err := st.Get(b.Context(), "clinic", benchID(i%sessions))
				return err
			})
		})
		b.Run("Audio/"+c.name, func(b *testing.B) {
			recording := make([]byte, 30*44100*2)
			st := with(b)
			b.SetBytes(int64(len(recording)))
			clients(b, 8, func(int) error {
				ref, err := st.Audio().Put(b.Context(), bytes.NewReader(recording))
				if err != nil {
					return err
				}
				f, err := st.Audio().Open(b.Context(), ref)
				if err != nil {
					return err
				}
				var got bytes.Buffer
				_, err = got.ReadFrom(f)
				return errors.Join(err, f.Close(), st.Audio().Remove(b.Context(), ref))
			})
		})
	}
}

// initiated returns a session without a submission, as Initiate creates it.
func initiated(i int) *store.Session {
	s := result(i)
	s.Status, s.Product, s.Scores, s.Features = screen.StatusInitiated, 0, nil, nil
	return s
}
