package s3_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/memory"
	"github.com/voicescreen/voicescreen/store/storetest"
)

// TestStore runs the suite of stores on a store whose sessions are in memory and whose
// audio is in a bucket.
func TestStore(t *testing.T) {
	t.Parallel()
	server := started(t)
	storetest.Run(t, func(t *testing.T, now func() time.Time) store.Store {
		return &withAudio{Store: memory.New(&memory.Options{Now: now}), audio: open(t, newBucket(t, server)+"/prefix", server.Addr, nil)}
	})
}

// withAudio is a store whose audio is kept elsewhere.
type withAudio struct {
	store.Store
	audio store.Audio
	calls store.Calls // of audio
}

// Close waits for calls of audio.
func (s *withAudio) Close() error { return errors.Join(s.calls.Close(), s.Store.Close()) }

func (s *withAudio) Unwrap() store.Store { return s.Store }

func (s *withAudio) Audio() store.Audio { return (*referred)(s) }

func (s *withAudio) Update(ctx context.Context, account, id string, change store.Change) (*store.Session, error) {
	var before string
	after, err := s.Store.Update(ctx, account, id, noted(change, &before))
	return s.release(before, after, err)
}

func (s *withAudio) Next(ctx context.Context, change store.Change) (*store.Session, error) {
	var before string
	after, err := s.Store.Next(ctx, noted(change, &before))
	return s.release(before, after, err)
}

func (s *withAudio) NextNotice(ctx context.Context, without []string, change store.Change) (*store.Session, error) {
	var before string
	after, err := s.Store.NextNotice(ctx, without, noted(change, &before))
	return s.release(before, after, err)
}

// noted returns a change that also notes the reference of the session.
func noted(change store.Change, before *string) store.Change {
	return func(s *store.Session, now time.Time) error {
		*before = s.Audio
		return change(s, now)
	}
}

// release removes audio that a change has replaced.
func (s *withAudio) release(before string, after *store.Session, err error) (*store.Session, error) {
	if err == nil && before != after.Audio {
		_ = s.audio.Remove(context.Background(), before)
	}
	return after, err
}

func (s *withAudio) Delete(ctx context.Context, account, id string) error {
	defer s.lost()()
	return s.Store.Delete(ctx, account, id)
}

func (s *withAudio) Forget(ctx context.Context, account, userID string) (int, error) {
	defer s.lost()()
	return s.Store.Forget(ctx, account, userID)
}

func (s *withAudio) Expire(ctx context.Context, age time.Duration, limit int) ([]screen.SessionKey, error) {
	defer s.lost()()
	return s.Store.Expire(ctx, age, limit)
}

// lost returns a function that removes the audio of the sessions that were removed since.
func (s *withAudio) lost() func() {
	before := s.refs()
	return func() {
		after := s.refs()
		for ref := range before {
			if !after[ref] {
				_ = s.audio.Remove(context.Background(), ref)
			}
		}
	}
}

// refs returns the references of all sessions.
func (s *withAudio) refs() map[string]bool {
	refs, last := map[string]bool{}, ""
	for {
		list, err := s.Scan(context.Background(), last, 1000)
		if err != nil || len(list) == 0 {
			return refs
		}
		for _, session := range list {
			last = session.ID
			if session.Audio != "" {
				refs[session.Audio] = true
			}
		}
	}
}

// referred is the audio of a store, which knows what sessions refer to.
type referred withAudio

func (s *referred) Put(ctx context.Context, r io.Reader) (string, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return "", err
	}
	defer s.calls.End()
	return s.audio.Put(ctx, r)
}

func (s *referred) Open(ctx context.Context, ref string) (io.ReadCloser, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	return s.audio.Open(ctx, ref)
}

func (s *referred) Remove(ctx context.Context, ref string) error {
	if err := s.calls.Begin(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	if (*withAudio)(s).refs()[ref] {
		return nil
	}
	return s.audio.Remove(ctx, ref)
}

func (s *referred) Sweep(ctx context.Context, age time.Duration, also func(ref string) bool) error {
	if err := s.calls.Begin(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	refs := (*withAudio)(s).refs()
	return s.audio.Sweep(ctx, age, func(ref string) bool { return refs[ref] || also != nil && also(ref) })
}
