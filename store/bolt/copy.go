package bolt

import (
	"context"
	"errors"
	"fmt"

	"github.com/voicescreen/voicescreen/store"
)

// Copy copies the documents and sessions of from, with their audio, into to, and
// returns how many sessions it copied. It serves to encrypt a plain store, or to
// move an encrypted one to new keys. Nothing may change from during the call.
// Damaged records are left out, and so are sessions whose audio is missing or
// damaged: the error is then a [store.DamagedError], after all others were copied.
// After any other error the sessions copied so far stay in to.
func Copy(ctx context.Context, to, from *Store) (n int, err error) {
	after := ""
	var skipped store.DamagedError
	if err := copyDocuments(ctx, to, from, &skipped); err != nil {
		return 0, err
	}
	for {
		list, err := from.Scan(ctx, after, maxBatch)
		if err := skipped.Add(err); err != nil {
			return n, err
		}
		if len(list) > 0 {
			after = list[len(list)-1].ID
			copied, err := copySessions(ctx, to, from, list, &skipped)
			n += copied
			if err != nil {
				return n, err
			}
		}
		if len(list) == maxBatch {
			continue
		}
		if skipped.Records > 0 {
			return n, fmt.Errorf("store/bolt: copy: %w", &skipped)
		}
		return n, nil
	}
}

// copyDocuments copies all documents, and counts in skipped those that are damaged.
// The store to must not have a document of the same name.
func copyDocuments(ctx context.Context, to, from *Store, skipped *store.DamagedError) error {
	names, err := from.Documents(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		data, _, err := from.Document(ctx, name)
		if errors.Is(err, ErrCorrupt) {
			err = skipped.Add(&store.DamagedError{Records: 1, Err: fmt.Errorf("document %q: %w", name, err)})
		} else if err == nil {
			_, err = to.PutDocument(ctx, name, 0, data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copySessions copies sessions with their audio concurrently, so that they share
// commits. It returns how many it copied, and counts in skipped those whose audio is
// missing or damaged.
func copySessions(ctx context.Context, to, from *Store, list []*store.Session, skipped *store.DamagedError) (n int, err error) {
	errs := make(chan error, len(list))
	for _, session := range list {
		go func() { errs <- copySession(ctx, to, from, session) }()
	}
	for range list {
		if oneErr := <-errs; oneErr != nil {
			err = errors.Join(err, skipped.Add(oneErr))
			continue
		}
		n++
	}
	return n, err
}

// copySession copies a session with its audio. The error is a
// [store.DamagedError] if the audio is missing or damaged.
func copySession(ctx context.Context, to, from *Store, session *store.Session) error {
	if session.Audio != "" {
		r, err := from.Audio().Open(ctx, session.Audio)
		if err == nil {
			session.Audio, err = to.Audio().Put(ctx, r)
			err = errors.Join(err, r.Close())
		}
		if errors.Is(err, store.ErrNotFound) || errors.Is(err, ErrCorrupt) {
			err = &store.DamagedError{Records: 1, Err: fmt.Errorf("session %q: its audio: %w", session.ID, err)}
		}
		if err != nil {
			return err
		}
	}
	err := to.Create(ctx, session)
	if err != nil && session.Audio != "" {
		err = errors.Join(err, to.Audio().Remove(context.WithoutCancel(ctx), session.Audio))
	}
	return err
}
