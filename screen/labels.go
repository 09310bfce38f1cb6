package screen

import "time"

// Labels are the questionnaire answers and the interview result that feedback
// gave about the person of a session. At most one of PHQ2 and PHQ9 is set.
type Labels struct {
	PHQ2       []int     `json:"phq_2,omitempty" cbor:"1,keyasint,omitempty"` // two items, 0 to 3 each
	PHQ9       []int     `json:"phq_9,omitempty" cbor:"2,keyasint,omitempty"` // nine items, 0 to 3 each
	GAD7       []int     `json:"gad_7,omitempty" cbor:"3,keyasint,omitempty"` // seven items, 0 to 3 each
	Depression Interview `json:"depression_binary,omitempty" cbor:"4,keyasint,omitempty"`
	UpdatedAt  time.Time `json:"updated_at,omitzero" cbor:"5,keyasint,omitzero"`
}

// Interview is the outcome of a clinical interview. Its names are in lower case,
// as the published clients of the service spell them; they are read in any case.
type Interview uint8

// The values of Interview.
const (
	InterviewNegative Interview = iota + 1
	InterviewPositive
	InterviewUndecided // additional consideration required
)

var interviews = NewEnum[Interview]("interview result", "false", "true", "additional_consideration_required")

// Valid reports whether v is one of the values; the zero value is not.
func (v Interview) Valid() bool { return interviews.Valid(v) }

func (v Interview) String() string               { return interviews.String(v) }
func (v Interview) MarshalText() ([]byte, error) { return interviews.MarshalText(v) }

// UnmarshalText is ParseInterview. It sets v to 0 with an error.
func (v *Interview) UnmarshalText(b []byte) (err error) {
	*v, err = ParseInterview(string(b))
	return err
}

// ParseInterview returns the value whose name is s, in any case. The error does not
// repeat s.
func ParseInterview(s string) (Interview, error) { return interviews.ParseFold(s) }
