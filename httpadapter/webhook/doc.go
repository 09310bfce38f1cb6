// Package webhook notifies the programs of accounts by HTTPS when a session has
// its result, as the Standard Webhooks specification describes (version 1.0.0,
// github.com/standard-webhooks/standard-webhooks).
//
//	endpoints, err := webhook.Open("webhooks.json")
//	…
//	sender := webhook.New(endpoints, nil)
//	engine, err := voicescreen.Open("clinic.db", &voicescreen.Options{
//		Results: voicescreen.ResultOptions{Notify: sender.NotifyOptions()},
//	})
//	…
//	go sender.Watch(ctx, engine.Notices)
//	defer sender.Close() // after engine.Close
//
// # Notices
//
// A notice is a POST with a JSON body without data of a person and without the
// result, which the receiver fetches:
//
//	{"type":"session.completed","timestamp":"2026-11-20T14:00:00Z","data":{"session_id":"…","status":"success"}}
//
// The status is "success" or "failed"; the timestamp is the time of the last change
// of the session. The header webhook-id is the same at every attempt, so that a
// receiver can recognise a duplicate; webhook-timestamp is the time of the attempt
// in Unix seconds; webhook-signature holds, for each valid secret, "v1," and the
// base64 of the HMAC-SHA256 of id, timestamp and body, joined by full stops.
// During a rotation of secrets there are two signatures.
//
// The answer of the receiver decides what follows. A status from 200 to 299 accepts
// the notice. 410 disables the endpoint until it is set again. After any other
// status, a redirect too, and after 15 seconds without an answer, the notice is
// retried by the schedule of [voicescreen.NotifyOptions]. Delivery is at least
// once, in no particular order.
//
// # Addresses
//
// Notices go to https URLs only, with a certificate that the system trusts,
// without a proxy, and to public addresses only. The address is checked when the
// connection is made, after the name was resolved, so that a name that later
// resolves to another address (DNS rebinding) is refused too. A network-specific
// NAT64 prefix (RFC 6052) is not recognised: the operator must not route it to
// private addresses.
//
// Options.AllowPrivate adds networks for receivers on premises and for development.
// [Endpoints.Set] refuses an address that is in no such network, and [Resolve] a
// name that has no other address now. A receiver with a certificate of a private
// authority needs that authority in the trust store of the system, or, except on
// macOS and Windows, in the file that the environment variable SSL_CERT_FILE names.
//
// # Delivery state
//
// A Sender stores when it last delivered a notice of an account, when an
// attempt last failed and why; with [Sender.Watch] also how many notices wait. It
// stands in a file beside that of the endpoints, with the suffix .deliveries, or in
// the store. [Endpoints.Deliveries] reads it in any process. It is information for
// people: which notices are sent again is decided by the store of the engine.
//
// [Sender.Test] sends one event that is about no session, and returns the answer:
//
//	{"type":"webhook.test","timestamp":"2026-11-20T14:00:00Z","data":{}}
//
// # Privacy
//
// Log lines hold session identifiers, accounts and kinds of errors, and never a
// URL, the name of a host or a secret.
package webhook
