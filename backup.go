package voicescreen

import "context"

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
	return internal("back up the store", e.store.Backup(ctx, path))
}
