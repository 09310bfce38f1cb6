package voicescreen

import (
	"context"
	"time"

	"github.com/voicescreen/voicescreen/models/learn"
	"github.com/voicescreen/voicescreen/screen"
)

// CalibrateOptions says what to learn from. Nil and zero fields mean the
// default.
type CalibrateOptions struct {
	// Categories are what to learn. Default: depression and anxiety. A category
	// whose model is of ScoringOptions.Models has a Calibration that says so.
	Categories []screen.Category

	// Accounts are the accounts whose labels count. Default: all.
	Accounts []string

	// Since leaves out sessions that were submitted before it, for example by
	// other people or through other microphones. Default: none is left out.
	Since time.Time

	// DryRun learns and compares, and leaves the model in use as it is.
	DryRun bool

	// Seed draws the folds in which people are held out.
	Seed uint64
}

// Calibration is what Calibrate found for one category.
type Calibration struct {
	Category  screen.Category
	Activated bool   // the learned model is in use now
	Reason    string // why it is, or why not
	Skipped   int    // labelled sessions without the features or the label that are needed
	Damaged   int    // sessions that cannot be read, whose labels, if any, are left out

	Learned *learn.Learned // nil where there were too few labels
}

// Calibrate learns from the labels of Feedback: the posterior of the shipped
// model of each category, with the norms that Adapt left, given every labelled session
// of all accounts. If on
// held-out users the learned model is not worse than the model in use, it
// replaces that one: in this engine at once, and in others on the same store
// within a second. The former model is kept for Revert. Sessions under analysis
// keep the model that they began with, and existing scores stay as they are.
//
// PHQ-9 counts for depression, or else the outcome of an interview unless it is
// InterviewUndecided, or else PHQ-2; GAD-7 counts for anxiety. See learn.Learn
// for the rest. Sessions are read page by page; the features of each labelled
// one are held in memory, about 1 KB. Of Calibrate and Adapt one runs at a time,
// and one dry run beside it; others are ErrConflict.
//
// A learned model holds weights and counts, and no session or user. The effect
// of the labels of a user who was erased since ends with the next calibration
// that is activated.
//
// Sessions that the store cannot read are left out and counted as Damaged. A
// session that was compared with such a session is counted as Skipped.
//
// Models of ScoringOptions.Models, of whatever kind, stay as they are.
//
// The error is an InvalidError for a category that does not learn, ErrConflict
// where the model of a category that is asked for, or by default of both, is of
// ScoringOptions.Models, ctx's, or internal. Too few labels are no error: see
// Calibration. Calibrate returns beside an error the categories that were done
// before it, whose models, if Activated, are in use.
func (e *Engine) Calibrate(ctx context.Context, opts *CalibrateOptions) ([]*Calibration, error) {
	ctx, leave, err := e.life.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	var o CalibrateOptions
	if opts != nil {
		o = *opts
	}
	return e.learner.Calibrate(ctx, &o)
}
