package voicescreen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// Feedback is one label for a session: exactly one field is set.
type Feedback struct {
	PHQ2       []int // 2 items, 0 to 3 each
	PHQ9       []int // 9 items, 0 to 3 each
	GAD7       []int // 7 items, 0 to 3 each
	Depression screen.Interview
}

// FeedbackWindow is how long after a submission its labels are accepted: what a
// person answers more than a day later does not describe the recording.
const FeedbackWindow = 24 * time.Hour

// Feedback attaches a label to a session that has a submission, also to one
// whose prediction failed. A label replaces an earlier one of its kind; PHQ2
// and PHQ9 replace each other. The label is durable when Feedback returns nil.
//
// The error is, in this order: an InvalidError for an invalid label, ErrNotFound
// where the account has no such session, ErrConflict before the submission,
// ErrInvalid for a session of the deepfake product, which no label describes,
// ErrTooLate more than FeedbackWindow after the submission by the store's clock.
func (a *flow) Feedback(ctx context.Context, sessionID string, f Feedback) error {
	if err := f.validate(); err != nil {
		return err
	}
	e := a.engine
	ctx, leave, err := e.life.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	_, err = e.store.Update(ctx, a.name, sessionID, func(s *store.Session, now time.Time) error {
		if s.Status == screen.StatusInitiated {
			return fmt.Errorf("%w: feedback before the submission", ErrConflict)
		}
		if s.Product == screen.DeepfakeBinary {
			return malformed("session_id", "the session is of the deepfake product, which has no labels")
		}
		if now.Sub(s.SubmittedAt) > FeedbackWindow {
			return fmt.Errorf("%w: feedback is accepted within %.0f hours of the audio", ErrTooLate, FeedbackWindow.Hours())
		}
		f.apply(&s.Labels)
		s.Labels.UpdatedAt = now
		s.UpdatedAt = now
		return nil
	})
	if errors.Is(err, ErrConflict) || errors.Is(err, ErrInvalid) || errors.Is(err, ErrTooLate) {
		return err
	}
	return internal("store feedback", err)
}

// apply puts a copy of the one field that is set into l.
func (f *Feedback) apply(l *screen.Labels) {
	switch {
	case f.PHQ2 != nil:
		l.PHQ2, l.PHQ9 = slices.Clone(f.PHQ2), nil
	case f.PHQ9 != nil:
		l.PHQ9, l.PHQ2 = slices.Clone(f.PHQ9), nil
	case f.GAD7 != nil:
		l.GAD7 = slices.Clone(f.GAD7)
	default:
		l.Depression = f.Depression
	}
}

// maxItem is the largest answer of the questionnaires: "nearly every day".
const maxItem = 3

func (f *Feedback) validate() error {
	kinds := []struct {
		name  string
		items []int
		want  int
	}{{"phq_2", f.PHQ2, 2}, {"phq_9", f.PHQ9, 9}, {"gad_7", f.GAD7, 7}}
	set := 0
	for _, k := range kinds {
		if k.items == nil {
			continue
		}
		set++
		if len(k.items) != k.want {
			return malformed(k.name, fmt.Sprintf("%s has %d items, want %d", k.name, len(k.items), k.want))
		}
		for i, v := range k.items {
			if v < 0 || v > maxItem {
				return malformed(k.name, fmt.Sprintf("%s item %d is %d, want 0 to %d", k.name, i+1, v, maxItem))
			}
		}
	}
	if f.Depression != 0 {
		set++
		if !f.Depression.Valid() {
			return malformed("depression_binary", "depression_binary is not an interview result")
		}
	}
	switch set {
	case 1:
		return nil
	case 0:
		return &InvalidError{Fields: map[string]Problem{"actual_score": Unprovided}, Detail: "no label is given"}
	}
	return malformed("actual_score", fmt.Sprintf("%d labels are given at once, want one", set))
}

func malformed(field, detail string) error {
	return &InvalidError{Fields: map[string]Problem{field: Malformed}, Detail: detail}
}
