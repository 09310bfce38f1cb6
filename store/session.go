package store

import (
	"time"

	"github.com/voicescreen/voicescreen/screen"
)

// Session is one screening of a user, from consent through submission and result to
// labels.
type Session struct {
	Account   string          `json:"account" cbor:"1,keyasint,omitempty"`
	ID        string          `json:"id" cbor:"2,keyasint,omitempty"`
	UserID    string          `json:"user_id" cbor:"3,keyasint,omitempty"`
	Metadata  screen.Metadata `json:"metadata,omitzero" cbor:"4,keyasint,omitzero"`
	Status    screen.Status   `json:"state" cbor:"5,keyasint,omitempty"`
	CreatedAt time.Time       `json:"created_at" cbor:"6,keyasint,omitzero"`
	UpdatedAt time.Time       `json:"updated_at" cbor:"7,keyasint,omitzero"`

	// The submission. These are zero before it.
	Product     screen.Product `json:"product,omitempty" cbor:"8,keyasint,omitempty"`
	SubmittedAt time.Time      `json:"submitted_at,omitzero" cbor:"9,keyasint,omitzero"`
	Audio       string         `json:"audio,omitempty" cbor:"10,keyasint,omitempty"`            // reference to the stored audio; "" if there is none
	Channel     int            `json:"channel,omitempty" cbor:"11,keyasint,omitempty"`          // 1-based channel to analyse; 0 if the audio is mono
	Duration    float64        `json:"duration_seconds,omitempty" cbor:"24,keyasint,omitempty"` // of the recording in s; 0 if unknown
	FixedGain   bool           `json:"fixed_gain,omitempty" cbor:"12,keyasint,omitempty"`       // whether all recordings are made at the same gain, so that levels compare
	Baseline    bool           `json:"baseline,omitempty" cbor:"13,keyasint,omitempty"`         // whether to compare the recording with the user's earlier ones

	// The queue. Due is when a worker may take the session: the time of submission or
	// of the next attempt while it is queued, the end of the lease while it is leased,
	// and zero otherwise.
	Due      time.Time `json:"due,omitzero" cbor:"14,keyasint,omitzero"`
	Owner    string    `json:"owner,omitempty" cbor:"15,keyasint,omitempty"` // the worker that holds the lease
	Token    uint64    `json:"token,omitempty" cbor:"16,keyasint,omitempty"` // fencing token, which grows with each lease
	Attempts int       `json:"attempts,omitempty" cbor:"17,keyasint,omitempty"`

	// The result. A Change does not see Scores and Features: see Store.Update.
	Scores   []screen.Score     `json:"scores,omitempty" cbor:"18,keyasint,omitempty"`
	Features map[string]float64 `json:"features,omitempty" cbor:"19,keyasint,omitempty"` // by name, of schema voice/1; undefined ones are absent
	Failure  *screen.Failure    `json:"failure,omitempty" cbor:"20,keyasint,omitempty"`
	Analysed float64            `json:"analysed_seconds,omitempty" cbor:"25,keyasint,omitempty"` // how much of the recording was read, from its beginning, in s; 0 if unknown

	Labels screen.Labels `json:"labels,omitzero" cbor:"21,keyasint,omitzero"`

	// The notice of the result to the account. Notify is when it is sent next, zero
	// for never. Notices is the number of attempts so far.
	Notify  time.Time `json:"notify,omitzero" cbor:"22,keyasint,omitzero"`
	Notices int       `json:"notices,omitempty" cbor:"23,keyasint,omitempty"`
}

// Kept returns the start of the session's retention period: UpdatedAt, which is when
// it was created, got its result or got a label. It is zero while the recording is
// queued or analysed. See Store.Expire.
func (s *Session) Kept() time.Time {
	if s.Status == screen.StatusProcessing {
		return time.Time{}
	}
	return s.UpdatedAt
}

// Leased reports whether a worker has leased the session.
func (s *Session) Leased() bool { return s.Status == screen.StatusProcessing && s.Owner != "" }
