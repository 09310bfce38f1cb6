package voicescreen

import (
	"context"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// Result is what is known of a session. One that was initiated and not submitted
// has StatusInitiated, and no Product.
type Result struct {
	SessionID   string
	UserID      string
	Metadata    screen.Metadata
	Product     screen.Product
	Status      screen.Status
	CreatedAt   time.Time
	UpdatedAt   time.Time
	SubmittedAt time.Time
	Duration    float64            // of the recording in s; 0 before the submission
	Analysed    float64            // how much of it was analysed, from its beginning, in s; less than Duration beyond AudioOptions.MaxDuration, and 0 if unknown
	Calibrated  bool               // whether all scores come from calibrated models
	Scores      []screen.Score     // in the order of Product.Categories; nil unless StatusSuccess
	Features    map[string]float64 // of schema voice/1; undefined ones are absent; nil until analysed
	Failure     *screen.Failure    // nil unless the prediction failed
	Labels      screen.Labels
}

// Result returns what is known of a session. A session that waits for its
// recording has StatusInitiated. The error is ErrNotFound where the account has
// no such session. The Result is the caller's.
func (a *flow) Result(ctx context.Context, sessionID string) (*Result, error) {
	ctx, leave, err := a.engine.life.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return a.result(ctx, sessionID)
}

func (a *flow) result(ctx context.Context, sessionID string) (*Result, error) {
	s, err := a.engine.store.Get(ctx, a.name, sessionID)
	if err != nil {
		return nil, internal("get a session", err)
	}
	return newResult(s), nil
}

// status returns where a session stands.
func (a *flow) status(ctx context.Context, sessionID string) (screen.Status, error) {
	s, err := a.engine.store.Head(ctx, a.name, sessionID)
	if err != nil {
		return 0, internal("get the status of a session", err)
	}
	return s.Status, nil
}

// newResult returns what a caller sees of a session. It shares the memory of s.
func newResult(s *store.Session) *Result {
	r := &Result{
		SessionID:   s.ID,
		UserID:      s.UserID,
		Metadata:    s.Metadata,
		Product:     s.Product,
		Status:      s.Status,
		CreatedAt:   s.CreatedAt,
		UpdatedAt:   s.UpdatedAt,
		SubmittedAt: s.SubmittedAt,
		Duration:    s.Duration,
		Analysed:    s.Analysed,
		Scores:      s.Scores,
		Features:    s.Features,
		Failure:     s.Failure,
		Labels:      s.Labels,
	}
	if s.Status == screen.StatusSuccess {
		r.Calibrated = len(s.Scores) > 0
		for i := range s.Scores {
			r.Calibrated = r.Calibrated && s.Scores[i].Calibrated
		}
	}
	return r
}
