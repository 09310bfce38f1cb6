package voicescreen

import (
	"context"

	"github.com/voicescreen/voicescreen/screen"
)

// Revert goes back from the learned model of a category that is in use to the
// one before it, in the end to the shipped one. The model that was in use is
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
