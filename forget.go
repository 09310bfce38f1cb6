package voicescreen

import "context"

// Forget erases every trace of a user of the account: all sessions, with
// recordings, scores and labels. Results of analyses under way are dropped. A
// user without sessions is no error.
func (a *flow) Forget(ctx context.Context, userID string) error {
	if err := checkUserID(userID); err != nil {
		return err
	}
	e := a.engine
	ctx, leave, err := e.life.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if _, err := e.store.Forget(ctx, a.name, userID); err != nil {
		return internal("forget a user", err)
	}
	e.waiters.wakeAll()
	return nil
}

// Known says whether the account has a session of a user, with or without a submission.
func (a *flow) Known(ctx context.Context, userID string) (bool, error) {
	if err := checkUserID(userID); err != nil {
		return false, err
	}
	ctx, leave, err := a.engine.life.enter(ctx)
	if err != nil {
		return false, err
	}
	defer leave()
	list, err := a.engine.store.List(ctx, a.name, userID, nil, 1)
	if err != nil {
		return false, internal("find a user", err)
	}
	return len(list) > 0, nil
}
