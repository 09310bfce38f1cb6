package voicescreen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/voicescreen/voicescreen/internal/document"
	"github.com/voicescreen/voicescreen/internal/throttle"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/learn"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// learner learns models from labels, adapts norms to recordings without labels, and
// holds the scorers in use. What was learned and what was adapted stand in two
// documents of the store, which any number of engines read and change. It is safe for
// concurrent use.
type learner struct {
	store   store.Store
	opts    *ScoringOptions
	log     *slog.Logger
	now     func() time.Time // dates the versions of models
	learned *document.Document[*learnedModels]
	adapted *document.Document[*learnedModels]
	current atomic.Pointer[scorers] // made with both documents as they were last
	damaged throttle.Line           // a document

	calibrating sync.Mutex // one Calibrate or Adapt at a time
	trying      sync.Mutex // one dry run of either at a time: it changes nothing that they read
}

// begin begins a Calibrate or an Adapt. The error is ErrConflict while another one, or
// another dry run for a dry run, is under way.
func (l *learner) begin(dryRun bool) (end func(), err error) {
	one := &l.calibrating
	if dryRun {
		one = &l.trying
	}
	if !one.TryLock() {
		return nil, errUnderWay
	}
	return one.Unlock, nil
}

// newLearner returns a learner with the options of an Engine, without zero
// fields. The store may have no learned models.
func newLearner(st store.Store, o *Options) (*learner, error) {
	l := &learner{store: st, opts: &o.Scoring, log: o.Logger, now: o.Store.Now}
	none := sources{&learnedModels{}, &learnedModels{}}
	first, err := newScorers(l.opts, none)
	if err != nil {
		return nil, err
	}
	l.current.Store(first)
	if l.learned, err = document.Open(context.Background(), st, learnedDocument, none.learned, learnedText); err != nil {
		return nil, fmt.Errorf("voicescreen: learned models: %w", err)
	}
	if l.adapted, err = document.Open(context.Background(), st, adaptedDocument, none.adapted, adaptedText); err != nil {
		return nil, fmt.Errorf("voicescreen: adapted models: %w", err)
	}
	return l, nil
}

// learnEvery is how often Run looks at the documents, unless the scorers were asked
// for a moment ago. Chosen: damage is logged within a second.
const learnEvery = 500 * time.Millisecond

// Run logs that a document cannot be read, until stop is closed.
func (l *learner) Run(ctx context.Context, stop <-chan struct{}) {
	poll := time.NewTicker(learnEvery)
	defer poll.Stop()
	for {
		select {
		case <-stop:
			return
		case <-poll.C:
		}
		l.learned.Get()
		l.adapted.Get()
		if err := errors.Join(l.learned.Err(), l.adapted.Err()); err != nil && ctx.Err() == nil {
			l.damaged.Log(l.log, slog.LevelError, "read the learned models; the former ones stay in use", "error", err)
		}
	}
}

// Scorers returns the scorers in use now.
func (l *learner) Scorers() *scorers {
	from, s := sources{l.learned.Get(), l.adapted.Get()}, l.current.Load()
	if s.from == from {
		return s
	}
	next, err := newScorers(l.opts, from)
	if err != nil { // the document was checked when it was read
		l.log.Error("use a learned model", "error", err)
		return s
	}
	l.current.Store(next)
	return next
}

// change is changeModels of the learned models.
func (l *learner) change(c screen.Category, change func([]*models.BayesFile) ([]*models.BayesFile, error)) error {
	return changeModels(l.learned, c, change)
}

// changeModels replaces the list of models of a category in a document by what change
// makes of it, durably.
func changeModels(in *document.Document[*learnedModels], c screen.Category, change func([]*models.BayesFile) ([]*models.BayesFile, error)) error {
	err := in.Change(func(was *learnedModels) (*learnedModels, error) {
		list, err := change(slices.Clone(was.of[c]))
		if err != nil {
			return nil, err
		}
		return was.with(c, list[:min(len(list), formerModels+1)]), nil
	})
	if err != nil && !errors.Is(err, ErrConflict) {
		return internal("learned models", err)
	}
	return err
}

// Calibrate is Engine.Calibrate.
func (l *learner) Calibrate(ctx context.Context, o *CalibrateOptions) ([]*Calibration, error) {
	end, err := l.begin(o.DryRun)
	if err != nil {
		return nil, err
	}
	defer end()
	categories, err := l.categories(o.Categories)
	if err != nil {
		return nil, err
	}
	labelled, damaged, err := labelledSessions(ctx, l.store, o, l.log)
	if err != nil {
		return nil, err
	}
	var out []*Calibration
	for _, c := range categories {
		found, err := l.calibrate(ctx, c, labelled, o)
		if err != nil {
			return out, err
		}
		found.Damaged = damaged
		out = append(out, found)
	}
	return out, nil
}

// errUnderWay is the error of a second Calibrate or Adapt.
var errUnderWay = fmt.Errorf("%w: a calibration or an adaptation is under way", ErrConflict)

// categories returns the categories that are asked for, by default both that learn.
// The error is an InvalidError for another category, or ErrConflict where the model of
// one that is asked for, or by default of both, is of ScoringOptions.Models.
func (l *learner) categories(asked []screen.Category) ([]screen.Category, error) {
	all := len(asked) == 0
	if all {
		asked = []screen.Category{screen.Depression, screen.Anxiety}
	}
	given := 0
	for _, c := range asked {
		if c != screen.Depression && c != screen.Anxiety {
			return nil, malformed("categories", fmt.Sprintf("the %v model does not learn from labels", c))
		}
		if _, err := l.bayes(c); err != nil {
			if given++; !all || given == len(asked) {
				return nil, err
			}
		}
	}
	return asked, nil
}

// prior returns the model that learns from labels: the shipped one with the norms that
// were adapted last, if any were.
func (l *learner) prior(c screen.Category) (*models.BayesFile, error) {
	if f := l.adapted.Get().newest(c); f != nil {
		return f, nil
	}
	f, err := shipped.Bayes(c)
	if err != nil {
		return nil, fmt.Errorf("voicescreen: shipped models: %w", err)
	}
	return f, nil
}

// bayes returns the model in use of a category that learns.
func (l *learner) bayes(c screen.Category) (*models.Bayes, error) {
	s := l.Scorers()
	if err := s.learns(c); err != nil {
		return nil, err
	}
	return s.list[s.of[c]].(*models.Bayes), nil // as the shipped and the learned ones are
}

// calibrate learns one category.
func (l *learner) calibrate(ctx context.Context, c screen.Category, sessions []*labelledSession, o *CalibrateOptions) (*Calibration, error) {
	out := &Calibration{Category: c}
	former, err := l.bayes(c)
	if err != nil {
		out.Reason = err.Error()
		return out, nil
	}
	var examples []learn.Example
	for _, s := range sessions {
		label, ok := s.label(c)
		if !ok || s.in == nil {
			out.Skipped++
			continue
		}
		examples = append(examples, learn.Example{Account: s.account, User: s.user, Time: s.at, Recording: s.in, Label: label})
	}
	prior, err := l.prior(c)
	if err != nil {
		return nil, err
	}
	// Versions must be unique: a model that is learned a second later may differ.
	version := fmt.Sprintf("%s+%d.%s", prior.Version, len(examples), l.now().UTC().Format("20060102T150405Z"))
	learned, err := learn.Learn(ctx, prior, former, examples, &learn.LearnOptions{Version: version, Seed: o.Seed})
	switch {
	case errors.Is(err, learn.ErrFewLabels):
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
		out.Reason = "on held-out users the new model is worse by the rule that decides, and the model in use stays: " + learned.Verdict()
		return out, nil
	case o.DryRun:
		out.Reason = "on held-out users the new model is not worse by the rule that decides; not activated, as asked: " + learned.Verdict()
		return out, nil
	}
	err = l.change(c, func(list []*models.BayesFile) ([]*models.BayesFile, error) {
		return slices.Insert(list, 0, learned.File), nil
	})
	if err != nil {
		return nil, err
	}
	out.Activated = true
	out.Reason = "on held-out users the new model is not worse by the rule that decides: " + learned.Verdict()
	return out, nil
}

// Revert is Engine.Revert.
func (l *learner) Revert(c screen.Category) error {
	if err := l.Scorers().learns(c); err != nil {
		return err
	}
	return l.change(c, func(list []*models.BayesFile) ([]*models.BayesFile, error) {
		if len(list) == 0 {
			return nil, fmt.Errorf("%w: the %v model in use was not learned from labels", ErrConflict, c)
		}
		return list[1:], nil
	})
}
