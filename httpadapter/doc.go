// Package httpadapter serves an engine over HTTP: versions 1 and 2 of the
// service's REST interface, API keys, and the OpenAPI document that describes
// them.
//
// [New] returns a plain http.Handler. It can be mounted under any prefix with
// http.StripPrefix; [NewServer] gives a server with the time-outs that uploads
// need. Each call exists under "/v2", under "/v1" and without a version, with the
// same answers.
//
// # Authentication
//
// An [Authenticator] says who sent a request, for which account and with which
// scopes. [Keys] is one: API keys in a file ([OpenKeys]), in a document of a store
// ([StoredKeys]) or in memory ([NewKeys]). A program with users or tokens of its own
// gives New another one.
//
// # Order of checks
//
// The first check that fails determines the status of the answer: 403 without a
// valid key; 429 above the request rate of the key; 404 for an unknown path and
// 405 for an unknown method; 401 if the key lacks the scope; 413, 429 and 503
// for an upload that is too large, too many concurrent uploads and a full queue;
// then 422, 404, 406 and 409 of the call itself. The health checks, the OpenAPI
// document, its page "/docs" and the page that a browser gets at "/" need no key.
//
// A full disk or store is answered 503 with Retry-After by the calls that change
// something, and by /readyz; results can be read meanwhile.
//
// Every error has the body {"message": …}, but for 422 of initiate and 417 of a
// result. What net/http answers by itself, such as 400 for a "%zz" in a path, has it
// on the connections of a [WrapListener]. Not so: a request that breaks off or is too
// slow before the end of its header, whose connection is closed without an answer;
// what a proxy or a TLS listener answers; and a server with a listener of its own,
// where net/http answers in plain text.
//
// # Bodies
//
// A body of fields is read as JSON if its first byte is an opening brace, and
// otherwise by its Content-Type. It is small and is read whole; so is a body that
// the call does not need. An upload is a multipart body and is streamed: to the
// engine if the session and the sample rate are known when the file begins,
// otherwise to a temporary file.
// Memory for an upload does not depend on its size. [Limits] bounds sizes and
// times.
//
// # Waiting
//
// With the header "Prefer: wait=N" (RFC 7240) the answer to a request for one
// result is delayed while the session is processing, at most N seconds and at
// most Options.MaxWait. The answer then has the header "Preference-Applied:
// wait=N". Without the header every answer is immediate.
//
// # Audit
//
// With Options.Audit every call that needs a key is recorded, also if the key is
// refused. A record holds the account, the ID of the key, the action (initiate,
// submit, result, list, feedback/phq/2 and so on, delete, forget; unknown for an
// unknown path or method), the session, the status of the answer and the time.
// An answer is sent after its record is durable. If the record cannot be written
// the answer is 500, and all later calls are refused. A change that the call had
// made stays: after a crash or a failing disk at that moment the caller has no
// answer and the audit log no record; the log of the process has a line if it
// could be written. An erasure is permanent and is recorded twice: before, with
// the outcome "begun", and after. If the client disconnects before the answer
// the outcome is 499. [AuditErased] records the sessions that the engine erases
// after the retention time. Notices to webhooks are not recorded: they hold no
// result, and the receiver fetches the result with a call.
//
// # Privacy
//
// Log lines hold the route, the account, the key's ID, the status and the
// duration; never a path, a header or any part of a body. [Metrics] hold the
// route, the status and the duration. The message of every answer of status 500
// is "internal server error".
package httpadapter
