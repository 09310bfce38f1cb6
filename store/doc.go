// Package store defines the record of a session, [Session], and the contract of the
// stores that keep it, [Store]. Package store/bolt is the default store.
// Store/memory keeps everything in memory. Store/audio keeps audio in a directory,
// for any store. Store/storetest is the conformance suite that every store must
// pass.
//
// # How to write a store
//
// The rules of the service are closures over a session ([Change]). A store makes them
// atomic and need not know them. It needs these fields as columns or index entries:
//
//	account, ID          the primary key; an ID is unique in all accounts
//	account, user,
//	CreatedAt, ID        List and Forget
//	Due                  Next and Due
//	Account, Notify      NextNotice
//	Kept                 Expire
//	Audio                Audio.Remove and Audio.Sweep
//
// The other fields can be typed columns, since [Session.Check] bounds each value, or
// one value of [Marshal]. Scores and features are one value of [AppendAnalysis], which
// Head, Update, Next and NextNotice do not read.
//
// Each call that writes a session normalizes it, checks it (with Check,
// [Session.CheckChange], CheckNext or CheckNextNotice), commits, and then removes
// audio that the session no longer refers to. [NewClock] makes the clock of a store
// inside the process. [Calls] lets Close wait for calls.
package store
