// Package voicescreen listens to a recording of a person speaking and returns
// screening scores: signs of depression, signs of anxiety, and the risk that
// the voice is synthetic. Around the scores it keeps the flow of a clinical
// service: consent, one prediction a session, non-blocking submission,
// results, and feedback from which the models learn.
//
// Results are investigational and serve as decision support. They are not a
// diagnosis.
//
// # The flow
//
// [Account.Initiate] records consent and opens a session for one prediction.
// [Account.Submit] takes its recording and returns once that is durable.
// Workers analyse it in the background; [Account.Result] returns the status
// of the session, and [Account.Wait] waits for its result. [Account.Feedback]
// attaches the labels that a clinician gives within a day. [Account.Forget] and
// [Account.Delete] erase.
//
// An [Engine] has the methods of one Account, for programs with a single
// tenant, and returns others with [Engine.Tenant]. [Engine.Analyze] scores a file
// without a session and a store. [Engine.Adapt] brings the norms towards the recordings,
// without labels; [Engine.Calibrate] learns from the labels.
//
// # Where to read on
//
// Each call is in the file of its name: initiate.go, submit.go, wait.go and so
// on. The background work is four types: the worker (worker.go, lease.go)
// analyses recordings, the notifier sends notices of results, the sweeper erases
// old sessions, and the learner adapts norms and calibrates the models. Package store has the
// records, features the measures, models the scorers, and httpadapter the
// service.
//
// # Durability
//
// What returned without an error survives a crash and a power failure, where
// the store does. A session that was acknowledged reaches exactly one result:
// a worker holds it under a lease with a token that grows, a worker that dies
// loses the lease, and a result under an old token is dropped. An analysis
// that fails three times ends as screen.StatusFailed with screen.CodeInternal.
//
// A recording is erased as soon as its session has a result, and no audio
// outlives its session. Errors and log lines hold no account, user, metadata,
// feature or score, except that an [InvalidError] says which label is out of
// range.
//
// # After the result
//
// ResultOptions.OnResult is called in this process, and never if the process
// ends first. [NotifyOptions] send notices from a durable queue: a notice is
// stored in the transaction that stores the result, so that there is one for
// each result, and it is sent at least once. ResultOptions.Retain erases
// sessions that are old enough, and their notices.
//
// # Errors
//
// A caller's mistake is one of ErrNotFound, ErrInvalid and so on, wrapped with
// what was wrong. A recording that is well-formed and too short or too poor is
// no error: its session ends with a screen.Failure. Every other error is
// internal.
package voicescreen
