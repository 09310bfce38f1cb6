// Package webhook tells the programs of accounts by HTTPS that a session got
// its result, as the Standard Webhooks specification (version 1.0.0,
// github.com/standard-webhooks/standard-webhooks) describes it.
//
//	endpoints, err := webhook.Open("webhooks.json")
//	…
//	sender := webhook.New(endpoints, nil)
//	engine, err := voicescreen.Open("clinic.db", &voicescreen.Options{
//		Results: voicescreen.ResultOptions{Notify: sender.NotifyOptions()},
//	})
//
// # What is sent
//
// A POST with a JSON body that holds nothing of a person and nothing of the
// result, which the receiver fetches:
//
//	{"type":"session.completed","timestamp":"2026-11-20T14:00:00Z","data":{"session_id":"…","status":"success"}}
//
// The status is "success" or "failed"; the timestamp is when the session last
// changed. The header webhook-id is the same at every attempt, so that a
// receiver can tell what it has had; webhook-timestamp is the time of the
// attempt in Unix seconds; webhook-signature holds, for each secret that is
// valid, "v1," and the HMAC-SHA256 of id, timestamp and body, with a full stop
// between them, in base64. While secrets are exchanged there are two.
//
// Any status from 200 to 299 says that the notice was taken, and it is not
// sent again. 410 disables the endpoint until it is set anew. After anything
// else, a redirect too, and after 15 seconds without an answer, it is sent
// again by the schedule of [voicescreen.NotifyOptions]: notices come at least
// once and in no particular order.
//
// # Where to
//
// Only to https, with a certificate that the system trusts, straight and
// through no proxy, and only to addresses of the public Internet. The address
// is looked at when the connection is made, after the name was resolved: a
// name that resolves to another address the next time gains nothing. A
// network's own prefix for NAT64 cannot be known; where there is one it must
// not lead to private addresses.
//
// # Privacy
//
// Log lines hold session identifiers, accounts and kinds of errors, and no
// address, name of a host or secret.
package webhook
