package client

import (
	"net/http"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/screen"
)

// FuzzReply reads what may come instead of the service's answer, a page of a
// proxy for example.
func FuzzReply(f *testing.F) {
	f.Add(200, `{"status":"success","created_at":"2026-01-02 03:04:05","actual_score":{"phq_2":[1,2],"depression_binary":"true"}}`, `</v2?cursor=a%20b>; rel="next"`)
	f.Add(422, `{"error":"unsupported_metadata_spec","context":{"user_id":"unprovided"}}`, "120")
	f.Add(503, "<html>", "Fri, 20 Nov 2026 13:14:18 GMT")
	f.Fuzz(func(t *testing.T, status int, body, header string) {
		cost.Check(t, len(body)+len(header), func() {
			r := &reply{status: status, header: http.Header{"Link": {header}, "Retry-After": {header}}, body: []byte(body)}
			var result Result
			if err := r.decode(&result, http.StatusOK, http.StatusExpectationFailed); err == nil && result.Status > screen.StatusFailed {
				t.Errorf("got status %d", result.Status)
			}
			if e := newError(r); e.Error() == "" || e.RetryAfter < 0 {
				t.Errorf("got %+v", e)
			}
			nextCursor(header)
		})
	})
}
