package console

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/models/learn"
	"github.com/voicescreen/voicescreen/screen"
)

// trialTime bounds one trial. Chosen: learning from 20,000 recordings takes minutes.
const trialTime = 30 * time.Minute

// A trial is what Calibrate and Adapt would do with the recordings of one account. It is
// immutable once it is done.
type trial struct {
	Done     bool
	At       time.Time // of the end
	Findings []finding
	Busy     bool // whether another calibration was under way
	Failed   bool
}

// A finding is what a trial found for one category.
type finding struct {
	Kind     string // the name of a text
	Category screen.Category
	Better   bool   // whether the new model would be used
	Reason   string // in English
	New      string // AUC of the new model on held-out people; "" for none
	Former   string // that of the model in use
}

// trials holds the last trial of each account. It is safe for concurrent use.
type trials struct {
	ctx context.Context // of the trials
	now func() time.Time
	log *slog.Logger

	mu sync.Mutex // protects of
	of map[string]*trial
}

func newTrials(ctx context.Context, now func() time.Time, log *slog.Logger) *trials {
	return &trials{ctx: ctx, now: now, log: log, of: map[string]*trial{}}
}

// last returns the last trial of an account, nil for none.
func (t *trials) last(account string) *trial {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of[account]
}

// begin starts a trial, unless one of the account is under way.
func (t *trials) begin(e *voicescreen.Engine, account string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := t.of[account]; now != nil && !now.Done {
		return
	}
	t.of[account] = &trial{}
	go func() {
		ctx, cancel := context.WithTimeout(t.ctx, trialTime)
		defer cancel()
		var found []finding
		err := survive(t.log, func() (err error) {
			found, err = try(ctx, e, account)
			return err
		})
		made := &trial{Done: true, At: t.now(), Findings: found}
		switch {
		case errors.Is(err, voicescreen.ErrConflict):
			made.Busy = true
		case err != nil:
			if made.Failed = true; t.ctx.Err() == nil {
				t.log.Error("trial calibration", "error", err)
			}
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.of[account] = made
	}()
}

// try asks what Calibrate and Adapt would do, and changes nothing.
func try(ctx context.Context, e *voicescreen.Engine, account string) (all []finding, err error) {
	calibrated, err := e.Calibrate(ctx, &voicescreen.CalibrateOptions{Accounts: []string{account}, DryRun: true})
	for _, c := range calibrated { // also beside an error
		f := finding{Kind: "trial.calibrate", Category: c.Category, Reason: c.Reason}
		if l := c.Learned; l != nil {
			f.Better, f.New, f.Former = l.Better, figure(l.New.AUC), figure(l.Former.AUC)
		}
		all = append(all, f)
	}
	if err != nil {
		return all, err
	}
	adapted, err := e.Adapt(ctx, &voicescreen.AdaptOptions{Accounts: []string{account}, DryRun: true})
	for _, a := range adapted {
		f := finding{Kind: "trial.adapt", Category: a.Category, Reason: a.Reason}
		f.Better = a.Adapted != nil && a.Adapted.Better
		all = append(all, f)
	}
	return all, err
}

// figure writes a figure with its interval; "" for one that is not known.
func figure(f learn.Figure) string {
	if !(f.Low <= f.High) {
		return ""
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", f.Value, f.Low, f.High)
}

// try begins a trial for the account.
func (v *visit) try() error {
	v.trials.begin(v.engine, v.caller.Account)
	return v.redirect("agreement")
}
