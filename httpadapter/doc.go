// Package httpadapter puts an engine on the web: versions 1 and 2 of the
// service's REST surface, API keys, and the OpenAPI document that describes
// them.
//
// [New] returns a plain http.Handler. It can be mounted under any prefix with
// http.StripPrefix; [NewServer] gives a server with the time-outs that uploads
// need. The three versions "/v2", "/v1" and none take the same calls and
// answer them the same way.
//
// # Order of checks
//
// A request is answered by the first of these that applies: 403 without a
// valid key; 429 if the key has made too many, whatever they were for; 404 for a
// path and 405 for a method that do not exist; 401 if the key lacks the scope;
// 413, 429 and 503 for what is too much of an upload; then 422, 404, 406 and 409
// of the call itself. The health checks and the OpenAPI document, which "/docs"
// shows to people, need no key.
//
// # Bodies
//
// Field bodies are read as JSON if their first byte is an opening brace,
// otherwise as what their Content-Type says; they are small and are read
// whole, and so are those that come with calls that take none. Uploads are
// multipart bodies and are streamed: to the engine if the parts come in an order
// that allows it, otherwise to a temporary file. Memory for an upload does not
// depend on its size. [Limits] says what else is bounded, and how slowly a body
// may come.
//
// # Waiting
//
// With the header "Prefer: wait=N" (RFC 7240) the answer to the question for
// one result is held while the session is processing, at most N seconds and
// at most Options.MaxWait. The answer then says "Preference-Applied: wait=N".
// Without the header every answer comes at once.
//
// # Audit
//
// With Options.Audit every call with a valid key, and every one whose key is
// refused, is recorded: the account, the ID of the key, the action (initiate,
// submit, result, list, feedback/phq/2 and so on, delete, forget; unknown where
// there is no such call), the session, the status of the answer and the time. No answer
// goes out before its record is durable; if that fails the answer is 500 instead,
// and no further call is let through. What a call has changed by then stays
// changed: a crash, or a disk that fails, at that moment leaves a change of
// which the caller was told nothing and the audit log has nothing, only the log
// of the process if that can. Erasing cannot be undone and is recorded twice:
// before, with the outcome "begun", and after. A client that leaves before the
// answer has the outcome 499. What the engine erases by itself, after the time
// for which results are retained, [AuditErased] records. Notices to webhooks
// are not recorded: they hold no result, and who fetches one makes a call.
//
// # Privacy
//
// Log lines carry the route, the account, the key's ID, the status and the
// time it took; never a path, a header or any part of a body. [Metrics] hold
// less: the route, the status and the time. Answers of
// status 500 say "internal server error" and nothing else.
package httpadapter
