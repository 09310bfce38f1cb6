package voicescreen

import (
	"bytes"
	"context"
	"fmt"

	"github.com/voicescreen/voicescreen/internal/document"
	"github.com/voicescreen/voicescreen/internal/durable"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// thresholdsDocument is the name of the store's document of thresholds.
const thresholdsDocument = "thresholds"

// thresholdsText is how thresholds stand in the document: as in a file, and empty where
// there are none.
var thresholdsText = durable.Format[screen.AccountThresholds]{
	Parse: func(data []byte) (screen.AccountThresholds, error) {
		if len(data) == 0 {
			return nil, nil
		}
		return screen.ReadThresholds(bytes.NewReader(data))
	},
	Text: func(a screen.AccountThresholds) ([]byte, error) {
		if len(a) == 0 {
			return nil, nil
		}
		var b bytes.Buffer
		err := screen.WriteThresholds(&b, a)
		return b.Bytes(), err
	},
	MaxBytes: screen.MaxDocument,
}

// thresholds are those of the accounts: given in the options, or in the store.
type thresholds struct {
	given  screen.AccountThresholds // nil if there are none
	stored *document.Document[screen.AccountThresholds]
}

func newThresholds(st store.Store, given screen.AccountThresholds) (*thresholds, error) {
	d, err := document.Open(context.Background(), st, thresholdsDocument, nil, thresholdsText)
	if err != nil {
		return nil, fmt.Errorf("voicescreen: thresholds: %w", err)
	}
	return &thresholds{given, d}, nil
}

// get returns the thresholds in use, which the caller must not change.
func (t *thresholds) get() screen.AccountThresholds {
	if t.given != nil {
		return t.given
	}
	return t.stored.Get()
}

// Thresholds returns a copy of the thresholds in use: those of
// ScoringOptions.Thresholds or else those of SetThresholds.
func (e *Engine) Thresholds() screen.AccountThresholds { return e.analyzer.thresholds.get().Clone() }

// SetThresholds stores the thresholds of all accounts in place of the former
// ones, durably; nil removes them. Every engine on the store uses them within a second, except
// engines with ScoringOptions.Thresholds. Existing scores stay. The error is an
// InvalidError for thresholds that cannot be applied, ErrConflict where this
// engine has ScoringOptions.Thresholds, ErrClosed, or internal.
func (e *Engine) SetThresholds(a screen.AccountThresholds) error {
	_, leave, err := e.life.enter(context.Background())
	if err != nil {
		return err
	}
	defer leave()
	if err := a.Check(); err != nil {
		return malformed("thresholds", err.Error())
	}
	if e.analyzer.thresholds.given != nil {
		return fmt.Errorf("%w: the thresholds in use were given in ScoringOptions.Thresholds", ErrConflict)
	}
	a = a.Clone()
	err = e.analyzer.thresholds.stored.Change(func(screen.AccountThresholds) (screen.AccountThresholds, error) { return a, nil })
	return internal("thresholds", err)
}
