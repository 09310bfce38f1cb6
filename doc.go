// Package voicescreen listens to a recording of a person speaking and returns
// screening scores: signs of depression, signs of anxiety, and the risk that
// the voice is synthetic. Round the scores it keeps the flow of a clinical
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
// Workers analyse it in the background; [Account.Result] says how far that is,
// [Account.Wait] waits for it. [Account.Feedback] attaches the labels that a
// clinician gives within a day. [Account.Forget] and [Account.Delete] erase.
// [Engine.Analyze] scores a file without any of this.
//
// An [Engine] has the methods of one Account, for programs with a single
// tenant, and makes others with [Engine.Tenant].
//
// # What is promised
//
// What returned without an error survives a crash and a power failure, where
// the store does. A session that was acknowledged reaches exactly one result:
// a worker holds it under a lease with a token that grows, a worker that dies
// loses the lease, and a result under an old token is dropped. An analysis
// that fails three times ends as [StatusFailed] with [CodeInternal].
//
// A recording is erased as soon as its session has a result, and no audio
// outlives its session. Errors and log lines hold no account, user, metadata,
// feature or score, but that an [InvalidError] says which label is out of
// range.
//
// # After the result
//
// [Options].OnResult is called in this process, and never if the process ends
// first. [NotifyOptions] tells others from a durable queue: that somebody is
// to be told stands in the transaction that stores the result, so nothing is
// told that did not happen and nothing is forgotten; it may be told twice.
// [ResultOptions].Retain erases sessions that are old enough, with what is
// still to be told of them.
//
// # Errors
//
// A caller's mistake is one of ErrNotFound, ErrInvalid and so on, wrapped with
// what was wrong. A recording that is well-formed and too short or too poor is
// no error: its session ends with a [Failure]. Everything else is internal.
package voicescreen
