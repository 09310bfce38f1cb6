package voicescreen

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models/learn"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// scanPage is how many sessions are read from the store at a time. Chosen: a
// few hundred KB.
const scanPage = 200

// labelledSessions returns the sessions that have labels, with the features that
// they were compared with, and how many sessions cannot be read.
func labelledSessions(ctx context.Context, st store.Store, o *CalibrateOptions, log *slog.Logger) (out []*labelledSession, damaged int, err error) {
	var passed store.DamagedError
	after := ""
	for {
		list, err := st.Scan(ctx, after, scanPage)
		if err := passed.Add(err); err != nil {
			return nil, 0, internal("scan for labels", err)
		}
		for _, s := range list {
			after = s.ID
			switch {
			case s.Labels.UpdatedAt.IsZero(), s.SubmittedAt.Before(o.Since), s.Product == screen.DeepfakeBinary,
				o.Accounts != nil && !slices.Contains(o.Accounts, s.Account):
				continue
			}
			x, err := newLabelled(ctx, st, s)
			if err != nil {
				return nil, 0, internal("scan for labels", err)
			}
			out = append(out, x)
		}
		if len(list) < scanPage {
			break
		}
	}
	if passed.Records > 0 {
		log.Error("calibrate without sessions that cannot be read", "sessions", passed.Records, "error", passed.Err)
	}
	return out, passed.Records, nil
}

// newLabelled returns what a calibration needs of a session with labels.
func newLabelled(ctx context.Context, st store.Store, s *store.Session) (*labelledSession, error) {
	x := &labelledSession{account: s.Account, user: s.UserID, at: s.SubmittedAt, labels: s.Labels}
	if s.Status != screen.StatusSuccess || len(s.Features) == 0 {
		return x, nil // counted as skipped
	}
	in := recordingOf(s)
	if s.Baseline {
		var err error
		if in.Earlier, err = earlier(ctx, st, s); errors.Is(err, store.ErrDamaged) {
			return x, nil // it was scored with a session that cannot be read: skipped
		} else if err != nil {
			return nil, err
		}
	}
	x.in = in
	return x, nil
}

// recordingOf returns the recording of an analysed session, without earlier ones.
func recordingOf(s *store.Session) *features.Recording {
	return &features.Recording{Features: features.VoiceSchema().Vector(s.Features), Metadata: s.Metadata, FixedGain: s.FixedGain}
}

// labelledSession is what a calibration needs of a session.
type labelledSession struct {
	account, user string
	at            time.Time
	labels        screen.Labels
	in            *features.Recording // nil if there are no features
}

// label returns the label that counts for a category; ok is false if there is
// none, or if it is invalid.
func (s *labelledSession) label(c screen.Category) (l learn.Label, ok bool) {
	var err error
	switch v := &s.labels; {
	case c == screen.Anxiety && v.GAD7 != nil:
		l, err = learn.ScoreLabel(learn.GAD7, v.GAD7)
	case c == screen.Anxiety:
		return l, false
	case v.PHQ9 != nil:
		l, err = learn.ScoreLabel(learn.PHQ9, v.PHQ9)
	case v.Depression == screen.InterviewPositive || v.Depression == screen.InterviewNegative:
		l = learn.InterviewLabel(v.Depression == screen.InterviewPositive)
	case v.PHQ2 != nil:
		l, err = learn.PHQ2Label(v.PHQ2)
	default:
		return l, false
	}
	return l, err == nil
}
