package store

import (
	"time"

	"github.com/voicescreen/voicescreen/screen"
)

// Session is one consented prediction, from the consent to the labels.
type Session struct {
	Account   string          `json:"account"`
	ID        string          `json:"id"`
	UserID    string          `json:"user_id"`
	Metadata  screen.Metadata `json:"metadata,omitzero"`
	Status    screen.Status   `json:"state"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`

	// From the submission on.
	Product     screen.Product `json:"product,omitempty"`
	SubmittedAt time.Time      `json:"submitted_at,omitzero"`
	Audio       string         `json:"audio,omitempty"`      // reference to the stored audio; "" when there is none
	Channel     int            `json:"channel,omitempty"`    // 1-based channel to analyse; 0 if the audio is mono
	FixedGain   bool           `json:"fixed_gain,omitempty"` // whether the level of the recording means something
	Baseline    bool           `json:"baseline,omitempty"`   // whether to compare it with the user's earlier ones

	// The queue. Due is when a worker may next take the session: at once when
	// it is queued, when the lease runs out while it is running, never (zero)
	// otherwise.
	Due      time.Time `json:"due,omitzero"`
	Owner    string    `json:"owner,omitempty"` // who holds the lease
	Token    uint64    `json:"token,omitempty"` // fencing token, one more for each lease
	Attempts int       `json:"attempts,omitempty"`

	// The result. Changes are not given scores and features: see Store.Update.
	Scores   []screen.Score     `json:"scores,omitempty"`
	Features map[string]float64 `json:"features,omitempty"` // of schema voice/1; undefined ones are absent
	Failure  *screen.Failure    `json:"failure,omitempty"`

	Labels screen.Labels `json:"labels,omitzero"`

	// The notification that there is a result. Notify is when whoever the
	// account wants told is told next, never if it is zero; Notices is how
	// often it was tried.
	Notify  time.Time `json:"notify,omitzero"`
	Notices int       `json:"notices,omitempty"`
}

// Kept returns since when the session is kept with nothing left to do: since
// its UpdatedAt, so since it was made, got its result or was given a label. It
// is the zero time while a recording waits or is being analysed. See
// Store.Expire.
func (s *Session) Kept() time.Time {
	if s.Status == screen.StatusProcessing {
		return time.Time{}
	}
	return s.UpdatedAt
}

// Leased says whether a worker holds the session.
func (s *Session) Leased() bool { return s.Status == screen.StatusProcessing && s.Owner != "" }
