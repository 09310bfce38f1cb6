package store

import (
	"time"

	"github.com/voicescreen/voicescreen/screen"
)

// Session is one consented prediction, from the consent to the labels.
type Session struct {
	Account   string          `json:"account" cbor:"1,keyasint,omitempty"`
	ID        string          `json:"id" cbor:"2,keyasint,omitempty"`
	UserID    string          `json:"user_id" cbor:"3,keyasint,omitempty"`
	Metadata  screen.Metadata `json:"metadata,omitzero" cbor:"4,keyasint,omitzero"`
	Status    screen.Status   `json:"state" cbor:"5,keyasint,omitempty"`
	CreatedAt time.Time       `json:"created_at" cbor:"6,keyasint,omitzero"`
	UpdatedAt time.Time       `json:"updated_at" cbor:"7,keyasint,omitzero"`

	// From the submission on.
	Product     screen.Product `json:"product,omitempty" cbor:"8,keyasint,omitempty"`
	SubmittedAt time.Time      `json:"submitted_at,omitzero" cbor:"9,keyasint,omitzero"`
	Audio       string         `json:"audio,omitempty" cbor:"10,keyasint,omitempty"`      // reference to the stored audio; "" when there is none
	Channel     int            `json:"channel,omitempty" cbor:"11,keyasint,omitempty"`    // 1-based channel to analyse; 0 if the audio is mono
	FixedGain   bool           `json:"fixed_gain,omitempty" cbor:"12,keyasint,omitempty"` // whether the level of the recording means something
	Baseline    bool           `json:"baseline,omitempty" cbor:"13,keyasint,omitempty"`   // whether to compare it with the user's earlier ones

	// The queue. Due is when a worker may next take the session: at once when
	// it is queued, when the lease runs out while it is running, never (zero)
	// otherwise.
	Due      time.Time `json:"due,omitzero" cbor:"14,keyasint,omitzero"`
	Owner    string    `json:"owner,omitempty" cbor:"15,keyasint,omitempty"` // who holds the lease
	Token    uint64    `json:"token,omitempty" cbor:"16,keyasint,omitempty"` // fencing token, one more for each lease
	Attempts int       `json:"attempts,omitempty" cbor:"17,keyasint,omitempty"`

	// The result. A Change gets neither Scores nor Features: see Store.Update.
	Scores   []screen.Score     `json:"scores,omitempty" cbor:"18,keyasint,omitempty"`
	Features map[string]float64 `json:"features,omitempty" cbor:"19,keyasint,omitempty"` // of schema voice/1; undefined ones are absent
	Failure  *screen.Failure    `json:"failure,omitempty" cbor:"20,keyasint,omitempty"`

	Labels screen.Labels `json:"labels,omitzero" cbor:"21,keyasint,omitzero"`

	// The notice that there is a result. Notify is when it is sent next, never if
	// it is zero; Notices is how many attempts were made.
	Notify  time.Time `json:"notify,omitzero" cbor:"22,keyasint,omitzero"`
	Notices int       `json:"notices,omitempty" cbor:"23,keyasint,omitempty"`

	Speech screen.Speech `json:"speech,omitempty" cbor:"24,keyasint,omitempty"` // how the person spoke, from the submission on; 0 if that is not known
}

// Kept returns the beginning of the session's retention: UpdatedAt, which is when
// it was created, got its result or got a label. It is the zero time while a
// recording waits or is being analysed. See Store.Expire.
func (s *Session) Kept() time.Time {
	if s.Status == screen.StatusProcessing {
		return time.Time{}
	}
	return s.UpdatedAt
}

// Leased says whether a worker holds the session.
func (s *Session) Leased() bool { return s.Status == screen.StatusProcessing && s.Owner != "" }
