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
// valid key; 404 for a path and 405 for a method that do not exist; 401 if the
// key lacks the scope; 413, 429 and 503 for what is too much; then 422, 404,
// 406 and 409 of the call itself. The health checks and the OpenAPI document,
// which "/docs" shows to people, need no key.
//
// # Bodies
//
// Field bodies are read as JSON if their first byte is an opening brace,
// otherwise as what their Content-Type says; they are small and are read
// whole. Uploads are multipart bodies and are streamed: to the engine if the
// parts come in an order that allows it, otherwise to a temporary file.
// Memory for an upload does not depend on its size. [Limits] says what else is
// bounded, and how slowly a body may come.
//
// # Waiting
//
// With the header "Prefer: wait=N" (RFC 7240) the answer to the question for
// one result is held while the session is processing, at most N seconds and
// at most Options.MaxWait. The answer then says "Preference-Applied: wait=N".
// Without the header every answer comes at once.
//
// # Privacy
//
// Log lines carry the route, the account, the key's ID, the status and the
// time it took; never a path, a header or any part of a body. [Metrics] hold
// less: the route, the status and the time. Answers of
// status 500 say "internal server error" and nothing else.
package httpadapter
