package voicescreen

import (
	"context"
	"iter"

	"github.com/voicescreen/voicescreen/store"
)

// All returns every session of the account, with and without a submission, in an order
// that the store chooses. It is for figures of a whole account: it reads the sessions of
// all accounts, page by page, and takes some 0.1 ms for each. A session that is created
// or removed meanwhile may be missing.
//
// An error ends the sequence, beside a nil Result. Sessions that the store cannot read
// are left out, and the sequence ends with a store.DamagedError that counts them. The
// other errors are ctx's, ErrClosed and internal ones. Close waits for the end of the
// sequence.
func (a *flow) All(ctx context.Context) iter.Seq2[*Result, error] {
	return func(yield func(*Result, error) bool) {
		ctx, leave, err := a.engine.life.enter(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		defer leave()
		var passed store.DamagedError
		after := ""
		for {
			list, err := a.engine.store.Scan(ctx, after, scanPage)
			if err := passed.Add(err); err != nil {
				yield(nil, internal("scan the sessions", err))
				return
			}
			for _, s := range list {
				after = s.ID
				if s.Account == a.name && !yield(newResult(s), nil) {
					return
				}
			}
			if len(list) < scanPage {
				break
			}
		}
		if passed.Records > 0 {
			yield(nil, &passed)
		}
	}
}
