package voicescreen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/fit"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// CalibrateOptions says what to learn from. Nil and zero fields mean the
// default.
type CalibrateOptions struct {
	// Categories are what to learn. Default: depression and anxiety, without
	// what Options.Models were given for, of which a Calibration says so.
	Categories []screen.Category

	// Accounts are whose labels count. Default: those of all.
	Accounts []string

	// Since leaves out what was submitted before, by people or through
	// microphones of another kind perhaps. Default: nothing is left out.
	Since time.Time

	// DryRun learns and compares, and leaves the model in use as it is.
	DryRun bool

	// Seed is that of the folds by which people are held out.
	Seed uint64
}

// Calibration is what Calibrate found for one category.
type Calibration struct {
	Category  screen.Category
	Activated bool   // the learned model is in use now
	Reason    string // why it is, or why not
	Skipped   int    // labelled sessions without the features or the label that are needed
	Damaged   int    // sessions that cannot be read, whose labels, if any, are left out

	Learned *fit.Learned // nil where there were too few labels
}

// Calibrate learns from the labels that feedback brought: the posterior of the
// shipped model of each category given every labelled session of all accounts.
// What it learned is used from then on, by this engine at once and by others
// on the same store within a second, if on held-out users it is not worse than the
// model in use; that one is kept for Revert. Sessions in work keep the model
// that they began with, and scores that were given stay as they are.
//
// PHQ-9 counts for depression, or else the outcome of an interview unless it is
// InterviewUndecided, or else PHQ-2; GAD-7 counts for anxiety. See fit.Learn
// for the rest. Sessions are read page by page; of each labelled one the
// features are held in memory, about 1 KB. One Calibrate runs at a time; others
// are ErrConflict.
//
// A learned model holds weights and counts, and no session or user. What the
// labels of a user who was erased since did to it goes with the next
// calibration that is activated.
//
// Sessions that the store cannot read are left out and counted, and so is,
// among the skipped ones, a session that is compared with such a one.
//
// Models that were given in Options.Models stay as they are, of whatever kind.
//
// The error is an InvalidError for a category that does not learn, ErrConflict
// where the model of one that is asked for, or by default of both, is of
// Options.Models, ctx's, or internal. Too few labels are no error: see
// Calibration. Beside an error stand the categories that were done before it,
// whose models, if Activated, are in use.
func (e *Engine) Calibrate(ctx context.Context, opts *CalibrateOptions) ([]*Calibration, error) {
	ctx, leave, err := e.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	var o CalibrateOptions
	if opts != nil {
		o = *opts
	}
	all := len(o.Categories) == 0
	if all {
		o.Categories = []screen.Category{screen.Depression, screen.Anxiety}
	}
	if !e.learning.TryLock() {
		return nil, fmt.Errorf("%w: a calibration is under way", ErrConflict)
	}
	defer e.learning.Unlock()
	given := 0
	for _, c := range o.Categories {
		if c != screen.Depression && c != screen.Anxiety {
			return nil, malformed("categories", fmt.Sprintf("the %v model does not learn from labels", c))
		}
		if _, err := e.bayes(c); err != nil {
			if given++; !all || given == len(o.Categories) {
				return nil, err
			}
		}
	}
	labelled, damaged, err := e.labelled(ctx, &o)
	if err != nil {
		return nil, err
	}
	var out []*Calibration
	for _, c := range o.Categories {
		found, err := e.calibrate(ctx, c, labelled, &o)
		if err != nil {
			return out, err
		}
		found.Damaged = damaged
		out = append(out, found)
	}
	return out, nil
}

// bayes returns the model in use of a category that learns.
func (e *Engine) bayes(c screen.Category) (*models.Bayes, error) {
	s := e.scorers()
	if err := s.learns(c); err != nil {
		return nil, err
	}
	return s.list[s.of[c]].(*models.Bayes), nil // as the shipped and the learned ones are
}

// scanPage is how many sessions are read from the store at a time. Chosen: a
// few hundred KB.
const scanPage = 200

// labelled returns the sessions that have labels and features, with those that
// they were compared with, and how many sessions cannot be read.
func (e *Engine) labelled(ctx context.Context, o *CalibrateOptions) (out []*labelledSession, damaged int, err error) {
	var passed store.DamagedError
	after := ""
	for {
		list, err := e.store.Scan(ctx, after, scanPage)
		if err := passed.Add(err); err != nil {
			return nil, 0, e.internal("scan for labels", err)
		}
		for _, s := range list {
			after = s.ID
			switch {
			case s.Labels.UpdatedAt.IsZero(), s.SubmittedAt.Before(o.Since), s.Product == screen.DeepfakeBinary,
				o.Accounts != nil && !slices.Contains(o.Accounts, s.Account):
				continue
			}
			x, err := e.labelledOf(ctx, s)
			if err != nil {
				return nil, 0, e.internal("scan for labels", err)
			}
			out = append(out, x)
		}
		if len(list) < scanPage {
			break
		}
	}
	if passed.Records > 0 {
		e.opts.Logger.Error("calibrate without sessions that cannot be read", "sessions", passed.Records, "error", passed.Err)
	}
	return out, passed.Records, nil
}

// labelledOf returns what a calibration needs of a session with labels.
func (e *Engine) labelledOf(ctx context.Context, s *store.Session) (*labelledSession, error) {
	x := &labelledSession{account: s.Account, user: s.UserID, at: s.SubmittedAt, labels: s.Labels}
	if s.Status != screen.StatusSuccess || len(s.Features) == 0 {
		return x, nil // counted as skipped
	}
	in := &features.Recording{Features: features.VoiceSchema().Vector(s.Features), Metadata: s.Metadata, FixedGain: s.FixedGain}
	if s.Baseline {
		var err error
		if in.Earlier, err = e.earlier(ctx, s); errors.Is(err, store.ErrDamaged) {
			return x, nil // it was scored with a session that is lost: skipped
		} else if err != nil {
			return nil, err
		}
	}
	x.in = in
	return x, nil
}

// labelledSession is what a calibration needs of a session.
type labelledSession struct {
	account, user string
	at            time.Time
	labels        screen.Labels
	in            *features.Recording // nil if there are no features
}

// label is the label that counts for a category; ok is false if there is none,
// or if it is none that feedback takes.
func (s *labelledSession) label(c screen.Category) (l fit.Label, ok bool) {
	var err error
	switch v := &s.labels; {
	case c == screen.Anxiety && v.GAD7 != nil:
		l, err = fit.ScoreLabel(fit.GAD7, v.GAD7)
	case c == screen.Anxiety:
		return l, false
	case v.PHQ9 != nil:
		l, err = fit.ScoreLabel(fit.PHQ9, v.PHQ9)
	case v.Depression == screen.InterviewPositive || v.Depression == screen.InterviewNegative:
		l = fit.InterviewLabel(v.Depression == screen.InterviewPositive)
	case v.PHQ2 != nil:
		l, err = fit.PHQ2Label(v.PHQ2)
	default:
		return l, false
	}
	return l, err == nil
}

// calibrate learns one category.
func (e *Engine) calibrate(ctx context.Context, c screen.Category, sessions []*labelledSession, o *CalibrateOptions) (*Calibration, error) {
	out := &Calibration{Category: c}
	former, err := e.bayes(c)
	if err != nil {
		out.Reason = err.Error()
		return out, nil
	}
	var examples []fit.Example
	for _, s := range sessions {
		l, ok := s.label(c)
		if !ok || s.in == nil {
			out.Skipped++
			continue
		}
		examples = append(examples, fit.Example{Account: s.account, User: s.user, Time: s.at, Recording: s.in, Label: l})
	}
	prior, err := shipped.Bayes(c)
	if err != nil {
		return nil, fmt.Errorf("voicescreen: shipped models: %w", err)
	}
	// Versions must not meet: what is learned a second later may be other.
	version := fmt.Sprintf("%s+%d.%s", prior.Version, len(examples), e.now().Format("20060102T150405Z"))
	learned, err := fit.Learn(ctx, prior, former, examples, &fit.LearnOptions{Version: version, Seed: o.Seed})
	switch {
	case errors.Is(err, fit.ErrFewLabels):
		out.Reason = err.Error()
		return out, nil
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("voicescreen: calibrate %v: %w", c, err)
	}
	out.Learned = learned
	switch {
	case !learned.Better:
		out.Reason = "on held-out users it is worse than the model in use, which stays"
		return out, nil
	case o.DryRun:
		out.Reason = "on held-out users it is not worse than the model in use; not activated, as asked"
		return out, nil
	}
	err = e.changeLearned(context.WithoutCancel(ctx), c, func(list []*models.BayesFile) ([]*models.BayesFile, error) {
		return slices.Insert(list, 0, learned.File), nil
	})
	if err != nil {
		return nil, err
	}
	out.Activated = true
	out.Reason = "on held-out users it is not worse than the model that was in use"
	return out, nil
}
