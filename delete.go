package voicescreen

import "context"

// Delete erases a session: its record, its recording, its scores and labels. If
// the session is under analysis, the result is dropped. The error is ErrNotFound
// where the account has no such session.
func (a *flow) Delete(ctx context.Context, sessionID string) error {
	e := a.engine
	ctx, leave, err := e.life.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := e.store.Delete(ctx, a.name, sessionID); err != nil {
		return internal("delete a session", err)
	}
	e.waiters.wakeOne(a.name, sessionID)
	return nil
}
