package client

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/voicescreen/voicescreen/screen"
)

// productPaths are where recordings for the products go.
var productPaths = []string{"/v2/prediction/", "/v2/predict/depression/binary", "/v2/predict/depression/severity", "/v2/predict/anxiety/severity", "/v2/predict"}

// Result is what the service says of a session. What it does not know, or was
// not asked for, is "", nil or zero.
type Result struct {
	SessionID   string          `json:"session_id"`
	Status      screen.Status   `json:"status"`
	CreatedAt   Time            `json:"created_at"`
	UpdatedAt   Time            `json:"updated_at"`
	Calibrated  bool            `json:"is_calibrated"`     // whether the scores were calibrated on labelled recordings
	Categories  string          `json:"model_category"`    // "depression,anxiety", "depression", "anxiety" or "deepfake"
	Granularity string          `json:"model_granularity"` // "severity" or "binary"
	Score       string          `json:"predicted_score"`   // the class, or "true", "false" or "additional_consideration_required"
	Depression  string          `json:"predicted_score_depression"`
	Anxiety     string          `json:"predicted_score_anxiety"`
	Labels      screen.Labels   `json:"actual_score"`
	Error       *screen.Failure `json:"predict_error"` // where Status is Failed
	Deepfake    *bool           `json:"predicted_is_deepfake"`
	Risk        *float64        `json:"predicted_deepfake_score"` // 0, likely authentic, to 100, likely synthetic
	Disclaimer  string          `json:"disclaimer"`
}

// Submitted says whether the session has its recording.
func (r *Result) Submitted() bool { return r.Error == nil || r.Error.Code != screen.CodeNotSubmitted }

// Time is a time as the service writes it, in UTC to the second.
type Time struct{ time.Time }

// UnmarshalJSON reads the service's form of a time.
func (t *Time) UnmarshalJSON(b []byte) error {
	var text string
	err := json.Unmarshal(b, &text)
	if err == nil {
		t.Time, err = time.ParseInLocation("2006-01-02 15:04:05", text, time.UTC)
	}
	return err
}

// Error is an answer of the service that is not the one hoped for.
type Error struct {
	Status     int               // such as http.StatusNotFound
	Message    string            // of the service; may be empty
	Fields     map[string]string // of a refused session: "unprovided" or "malformed", by parameter
	RetryAfter time.Duration     // when to try again; 0 if the service does not say
	RequestID  string            // by which the service's log knows the request
}

func newError(r *reply) *Error {
	e := &Error{Status: r.status, RetryAfter: retryAfter(r.header), RequestID: r.header.Get("X-Request-Id")}
	var body struct {
		Message string            `json:"message"`
		Context map[string]string `json:"context"`
	}
	if json.Unmarshal(r.body, &body) == nil { // else it is some proxy's page
		e.Message, e.Fields = body.Message, body.Context
	}
	return e
}

// Error is the status and what the service said.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "client: the service answered %d %s", e.Status, http.StatusText(e.Status))
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	sep := ": "
	for _, name := range slices.Sorted(maps.Keys(e.Fields)) {
		b.WriteString(sep + name + " is " + e.Fields[name])
		sep = ", "
	}
	return b.String()
}
