package voicescreen

import (
	"time"

	"github.com/voicescreen/voicescreen/screen"
)

// InitiateRequest opens a session.
type InitiateRequest struct {
	UserID   string          // the caller's identifier of the person; required
	Consent  bool            // whether the person consented to the processing of the recording
	Metadata screen.Metadata // optional
}

// SubmitOptions says what is asked of a recording. Nil and zero fields mean
// the default.
type SubmitOptions struct {
	Product screen.Product // default DepressionAnxiety

	// SampleRate, if not zero, is the one rate in Hz that is accepted.
	// Default: any from 8000 to 192000.
	SampleRate int

	// Channel is the one to analyse, from 1 on, of a recording with several.
	// Default: the recording must be mono.
	Channel int

	// FixedGain says that all recordings are made with the same microphone at
	// the same gain and distance, so that how loud they are means something.
	// Only then the level of the voice counts.
	FixedGain bool

	// Baseline compares the recording with earlier ones of the same user: with
	// the features of the last five sessions of the account and user that have
	// their result by the time this one is analysed, of the twenty that were
	// initiated before it. Where one of those cannot be read, only what was
	// initiated since counts. screen.Score.Baseline says how many there were.
	Baseline bool
}

// Ack acknowledges a submission: the audio is durable and will be analysed.
type Ack struct {
	SessionID string
	Status    screen.Status // StatusProcessing
}

// Result is what is known of a session. One that was initiated and never
// submitted has StatusInitiated, and no Product.
type Result struct {
	SessionID   string
	UserID      string
	Product     screen.Product
	Status      screen.Status
	CreatedAt   time.Time
	UpdatedAt   time.Time
	SubmittedAt time.Time
	Calibrated  bool               // whether all scores come from calibrated models
	Scores      []screen.Score     // in the order of Product.Categories; nil unless StatusSuccess
	Features    map[string]float64 // of schema voice/1; undefined ones are absent; nil until analysed
	Failure     *screen.Failure    // nil unless the prediction failed
	Labels      screen.Labels
}

// Page asks for a part of a listing. The zero Page asks for all of it.
type Page struct {
	Limit  int    // at most so many results; 0 means all
	Cursor string // "" is the beginning, otherwise what the former page returned
}

// Feedback is one label for a session: exactly one field is set.
type Feedback struct {
	PHQ2       []int // 2 items, 0 to 3 each
	PHQ9       []int // 9 items, 0 to 3 each
	GAD7       []int // 7 items, 0 to 3 each
	Depression screen.Interview
}
