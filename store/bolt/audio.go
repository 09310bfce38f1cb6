package bolt

import (
	"context"
	"io"
	"time"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
)

// suffixAudioDir follows the path of a store in the name of its directory of
// audio.
const suffixAudioDir = ".audio"

// Audio is described at [store.Store].
func (s *Store) Audio() store.Audio { return (*storeAudio)(s) }

// storeAudio is the Store as a store.Audio.
type storeAudio Store

// Put is described at [store.Audio].
func (s *storeAudio) Put(ctx context.Context, r io.Reader) (string, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return "", err
	}
	defer s.calls.End()
	return s.audio.Put(ctx, r)
}

// Open is described at [store.Audio].
func (s *storeAudio) Open(ctx context.Context, ref string) (io.ReadCloser, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	return s.audio.Open(ctx, ref)
}

// Sweep is described at [store.Audio].
func (s *storeAudio) Sweep(ctx context.Context, age time.Duration, referred func(ref string) bool) error {
	if err := s.calls.Begin(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	return (*Store)(s).sweepAudio(ctx, age, referred)
}

// sweepAudio removes audio of that age or older that no session refers to and for
// which referred, if not nil, returns false.
func (s *Store) sweepAudio(ctx context.Context, age time.Duration, referred func(ref string) bool) error {
	return s.view(func(tx *bbolt.Tx) error {
		refs := tx.Bucket(bucketAudio)
		return s.audio.Sweep(ctx, age, func(ref string) bool {
			return refs.Get([]byte(ref)) != nil || referred != nil && referred(ref)
		})
	})
}

// Remove is described at [store.Audio].
func (s *storeAudio) Remove(ctx context.Context, ref string) error {
	if err := s.calls.Begin(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	referred := false
	err := (*Store)(s).view(func(tx *bbolt.Tx) error { referred = tx.Bucket(bucketAudio).Get([]byte(ref)) != nil; return nil })
	if err != nil || referred {
		return err
	}
	return s.audio.Remove(ctx, ref)
}
