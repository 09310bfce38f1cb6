package client

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Product is what is predicted from a recording.
type Product uint8

const (
	DepressionAnxiety  Product = iota + 1 // both, by severity
	DepressionBinary                      // presence or absence
	DepressionSeverity                    // three classes
	AnxietySeverity                       // four classes
	Deepfake                              // risk that the voice is synthetic
)

var productNames = []string{"depression_anxiety", "depression_binary", "depression_severity", "anxiety_severity", "deepfake"}

// productPaths are where recordings for the products go.
var productPaths = []string{"/v2/prediction/", "/v2/predict/depression/binary", "/v2/predict/depression/severity", "/v2/predict/anxiety/severity", "/v2/predict"}

func (p Product) valid() bool { return p >= DepressionAnxiety && p <= Deepfake }

func (p Product) String() string {
	if !p.valid() {
		return fmt.Sprintf("Product(%d)", uint8(p))
	}
	return productNames[p-1]
}

// Outcome is that of a clinical interview.
type Outcome uint8

const (
	Negative  Outcome = iota + 1 // no depression
	Positive                     // depression
	Undecided                    // additional consideration required
)

var outcomeNames = []string{"false", "true", "Additional_consideration_required"}

func (o Outcome) String() string {
	if o == 0 || int(o) > len(outcomeNames) {
		return fmt.Sprintf("Outcome(%d)", uint8(o))
	}
	return outcomeNames[o-1]
}

// MarshalText is the service's name of the outcome.
func (o Outcome) MarshalText() ([]byte, error) {
	if o == 0 || int(o) > len(outcomeNames) {
		return nil, fmt.Errorf("client: %d is no outcome", uint8(o))
	}
	return []byte(outcomeNames[o-1]), nil
}

// UnmarshalText reads the service's name of an outcome.
func (o *Outcome) UnmarshalText(b []byte) error {
	i := slices.Index(outcomeNames, string(b))
	if i < 0 {
		return fmt.Errorf("client: unknown outcome")
	}
	*o = Outcome(i + 1)
	return nil
}

// Status is where a session stands.
type Status uint8

const (
	Processing Status = iota + 1 // the recording waits or is being analysed
	Success                      // there is a result
	Failed                       // there is none: see Result.Error
)

var statusNames = []string{"processing", "success", "failed"}

func (s Status) String() string {
	if s == 0 || int(s) > len(statusNames) {
		return fmt.Sprintf("Status(%d)", uint8(s))
	}
	return statusNames[s-1]
}

// UnmarshalText reads the service's name of a status.
func (s *Status) UnmarshalText(b []byte) error {
	i := slices.Index(statusNames, string(b))
	if i < 0 {
		return fmt.Errorf("client: unknown status")
	}
	*s = Status(i + 1)
	return nil
}

// Result is what the service says of a session. What it does not know, or was
// not asked for, is "", nil or zero.
type Result struct {
	SessionID   string   `json:"session_id"`
	Status      Status   `json:"status"`
	CreatedAt   Time     `json:"created_at"`
	UpdatedAt   Time     `json:"updated_at"`
	Calibrated  bool     `json:"is_calibrated"`     // whether the scores were calibrated on labelled recordings
	Categories  string   `json:"model_category"`    // "depression,anxiety", "depression", "anxiety" or "deepfake"
	Granularity string   `json:"model_granularity"` // "severity" or "binary"
	Score       string   `json:"predicted_score"`   // the class, or "true", "false" or "additional_consideration_required"
	Depression  string   `json:"predicted_score_depression"`
	Anxiety     string   `json:"predicted_score_anxiety"`
	Labels      Labels   `json:"actual_score"`
	Error       *Failure `json:"predict_error"` // where Status is Failed
	Deepfake    *bool    `json:"predicted_is_deepfake"`
	Risk        *float64 `json:"predicted_deepfake_score"` // 0, likely authentic, to 100, likely synthetic
	Disclaimer  string   `json:"disclaimer"`
}

// notSubmitted is the code of a session that waits for its recording.
const notSubmitted = "audio_not_submitted"

// Submitted says whether the session has its recording.
func (r *Result) Submitted() bool { return r.Error == nil || r.Error.Code != notSubmitted }

// Failure says why there is no score.
type Failure struct {
	Code    string             `json:"error"` // such as "audio_length_error"
	Message string             `json:"message"`
	Data    map[string]float64 `json:"additional_data"` // in listings
}

// Labels is what feedback said of a session.
type Labels struct {
	PHQ2       []int   `json:"phq_2"`
	PHQ9       []int   `json:"phq_9"`
	GAD7       []int   `json:"gad_7"`
	Depression Outcome `json:"depression_binary"`
}

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
