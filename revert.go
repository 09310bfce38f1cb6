package voicescreen

import (
	"context"

	"github.com/voicescreen/voicescreen/screen"
)

// Revert goes back from the learned model of a category that is in use to the
// one before it, in the end to the shipped one with the norms that Adapt left; see
// RevertNorms. The model that was in use is
// removed. Existing scores stay. The error is ErrConflict where none was
// learned, or where the model is of ScoringOptions.Models; ErrClosed; or
// internal.
func (e *Engine) Revert(c screen.Category) error {
	_, leave, err := e.life.enter(context.Background())
	if err != nil {
		return err
	}
	defer leave()
	return e.learner.Revert(c)
}

// RevertNorms goes back from the adapted norms of a category to those before them, in
// the end to the shipped ones. The norms that were in use are removed. A model that
// was learned from labels keeps its own: see Revert. Existing scores stay. The error
// is ErrConflict where the norms were not adapted, or where the model is of
// ScoringOptions.Models; ErrClosed; or internal.
func (e *Engine) RevertNorms(c screen.Category) error {
	_, leave, err := e.life.enter(context.Background())
	if err != nil {
		return err
	}
	defer leave()
	return e.learner.RevertNorms(c)
}
