package voicescreen

import (
	"context"
	"time"

	"github.com/voicescreen/voicescreen/models/learn"
	"github.com/voicescreen/voicescreen/screen"
)

// AdaptOptions says which recordings norms are adapted to. Nil and zero fields mean
// the default.
type AdaptOptions struct {
	// Categories are those whose model's norms to adapt. Default: depression and
	// anxiety. A category whose model is of ScoringOptions.Models has an Adaptation
	// that says so.
	Categories []screen.Category

	// Accounts are the accounts whose recordings count. Default: all.
	Accounts []string

	// Since leaves out sessions that were submitted before it, for example through
	// other microphones. Default: none is left out.
	Since time.Time

	// DryRun estimates and compares, and leaves the norms in use as they are.
	DryRun bool

	// Seed draws the folds in which people are held out.
	Seed uint64
}

// Adaptation is what Adapt found for one category.
type Adaptation struct {
	Category  screen.Category
	Activated bool   // the adapted norms are those of the shipped model now
	Reason    string // why they are, or why not
	Skipped   int    // sessions without features
	Damaged   int    // sessions that cannot be read

	// Waits is whether the model in use was learned from labels. It keeps the norms
	// that it was learned on; the next Calibrate learns on the adapted ones.
	Waits bool

	Adapted *learn.Adapted // nil where there were too few people
}

// Adapt brings the norms of the shipped models, which say how people speak, towards
// the recordings of this service, without labels: the means and spreads of the
// features by sex and way of speaking and, from 100 people on, their correlation. It
// needs 30 people. See learn.Adapt for the method: each person has one vote, outliers
// are held back, and ScoringOptions.BaseRates, if it states the share of people with
// a score of 10 or more, is allowed for. Without it the intervals become wider: these
// people are not those of the shipped base rate, and theirs is not known.
//
// If held-out people are more probable under the adapted norms than under the shipped
// ones, these are used: in this engine at once, and in others on the same store
// within a second. The former norms are kept for RevertNorms. Sessions under analysis
// keep the model that they began with, and existing scores stay as they are.
//
// A model that was learned from labels keeps the norms that it was learned on, because
// its weights and thresholds are for these. Calibrate begins with the adapted norms,
// and compares what it learns with the model in use as ever.
//
// Norms are numbers and counts, and no session or user. Each Adapt begins with the
// shipped norms and the sessions that are there: the part of a user who was
// erased since ends with the next Adapt whose norms are used, and in the former norms
// that are kept, five at most, as they are replaced or removed by RevertNorms. At most 20,000 recordings
// count, of people drawn by a hash of their names; each needs 1 KB of memory.
//
// Where fewer than 30 people are left, the norms stay until RevertNorms. After an
// upgrade of this module the norms stay with the weights that they were adapted with,
// until the next Adapt. Thresholds of an account that were chosen on scores by other
// norms must be chosen again.
//
// Of Adapt and Calibrate one runs at a time, and one dry run beside it; others are
// ErrConflict. The other errors are those of Calibrate. Too few people are no error: see
// Adaptation.
func (e *Engine) Adapt(ctx context.Context, opts *AdaptOptions) ([]*Adaptation, error) {
	ctx, leave, err := e.life.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	var o AdaptOptions
	if opts != nil {
		o = *opts
	}
	return e.learner.Adapt(ctx, &o)
}
