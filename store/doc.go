// Package store holds the records of the service and the [Store] interface
// that keeps them. Package store/bolt is the default, store/memory forgets
// everything when the process ends, store/audio keeps audio in a directory for
// any store, and store/storetest is the suite that every implementation must
// pass.
//
// # How to write a store
//
// The rules of the service are closures over a session ([Change]): a store makes
// them atomic and knows none of them. What it needs of a session as columns or
// index entries is
//
//	account, ID          the primary key; an ID is unique in all accounts
//	account, user,
//	CreatedAt, ID        List and Forget
//	Due                  Next and Due
//	Account, Notify      NextNotice
//	Kept                 Expire
//	Audio                whether audio is referred to
//
// All else of the session may be typed columns, since [Session.Check] bounds each
// value, or one value of [Marshal]; scores and features are one value of
// [AppendAnalysis], which Head, Update, Next and NextNotice do not read. Each
// writing call normalizes the session, checks it (Check, [Session.CheckChange],
// CheckNext or CheckNextNotice), commits, and then removes the audio that the
// session let go of. [NewClock] is a clock for a store in the process, [Calls]
// makes Close wait, and a store with an [Audio] of its own only adds to it which
// audio is referred to.
package store
