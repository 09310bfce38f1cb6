package voicescreen

import (
	"context"
	"errors"
	"fmt"

	"github.com/voicescreen/voicescreen/store"
)

// backer is a store that can be copied while it is used.
type backer interface {
	Backup(ctx context.Context, path string) error
}

// Backup copies the store, as it is at one moment, to a new store at path, while
// calls and analyses go on: see [bolt.Store.Backup], which says what may be at
// path. The error wraps errors.ErrUnsupported if neither the store nor one that it
// wraps, see [store.As], has a method Backup like that of bolt.
func (e *Engine) Backup(ctx context.Context, path string) error {
	ctx, leave, err := e.life.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	st, ok := store.As[backer](e.store)
	if !ok {
		return fmt.Errorf("voicescreen: back up the store: %w", errors.ErrUnsupported)
	}
	return internal("back up the store", st.Backup(ctx, path))
}
