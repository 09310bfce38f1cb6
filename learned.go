package voicescreen

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/voicescreen/voicescreen/internal/strictjson"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// learnedModels are the models that were learned from labels, for each
// category the one in use first and the former ones behind it. None is ever
// changed.
type learnedModels struct {
	of map[screen.Category][]*models.BayesFile
}

// formerModels is how many models of a category are kept to go back to. Chosen:
// as many as anybody will look at.
const formerModels = 5

// learnedDocument is the name of the store's document of learned models.
const learnedDocument = "learned-models"

// learnedFormat is the format of the document.
const learnedFormat = "voicescreen-learned/1"

// learnedFile is what the document looks like.
type learnedFile[T any] struct {
	Format string                  `json:"format"`
	Models map[screen.Category][]T `json:"models"`
}

// parseLearned refuses what it does not wholly understand, as Load does.
func parseLearned(data []byte) (*learnedModels, error) {
	var f learnedFile[*models.BayesFile]
	if err := strictjson.Decode(data, &f); err != nil {
		return nil, fmt.Errorf("is no document of learned models: %w", err)
	}
	if f.Format != learnedFormat {
		return nil, fmt.Errorf("format is %.40q, want %q", f.Format, learnedFormat)
	}
	for c, list := range f.Models {
		if len(list) > formerModels+1 {
			return nil, fmt.Errorf("%d models of %v, want at most %d", len(list), c, formerModels+1)
		}
		for i, m := range list {
			if m == nil {
				return nil, fmt.Errorf("model %d of %v is null", i+1, c)
			}
			if err := m.Check(); err != nil {
				return nil, fmt.Errorf("model %d of %v: %w", i+1, c, err)
			}
			if m.Category != c {
				return nil, fmt.Errorf("a model of %v stands among those of %v", m.Category, c)
			}
		}
	}
	if f.Models == nil {
		f.Models = map[screen.Category][]*models.BayesFile{}
	}
	return &learnedModels{of: f.Models}, nil
}

func textOfLearned(l *learnedModels) ([]byte, error) {
	f := learnedFile[json.RawMessage]{Format: learnedFormat, Models: map[screen.Category][]json.RawMessage{}}
	for c, list := range l.of {
		for _, m := range list {
			var b bytes.Buffer
			if err := m.Write(&b); err != nil {
				return nil, err
			}
			f.Models[c] = append(f.Models[c], b.Bytes())
		}
	}
	return json.MarshalIndent(f, "", " ")
}

// with returns l with another list of models of a category.
func (l *learnedModels) with(c screen.Category, list []*models.BayesFile) *learnedModels {
	out := &learnedModels{of: map[screen.Category][]*models.BayesFile{}}
	for k, v := range l.of {
		out.of[k] = v
	}
	out.of[c] = list
	return out
}

// learnEvery is how often the document is read again. Chosen: a change of another
// process is seen well within a second, and a read four times a second is less
// than an analysis.
const learnEvery = 250 * time.Millisecond

// learned are the learned models of a store, which any number of engines may read
// and change. It is safe for concurrent use.
type learned struct {
	store store.Store
	value atomic.Pointer[learnedModels]

	mu       sync.Mutex // protects what follows, and the order of changes
	revision uint64     // of value
	read     time.Time
}

// openLearned reads the learned models of a store, which may have none.
func openLearned(ctx context.Context, st store.Store) (*learned, error) {
	l := &learned{store: st}
	l.value.Store(&learnedModels{})
	if err := l.load(ctx); err != nil {
		return nil, fmt.Errorf("voicescreen: learned models: %w", err)
	}
	return l, nil
}

// get returns the models as they were a moment ago. Where they cannot be read
// the former ones stay. It waits for no change.
func (l *learned) get(ctx context.Context) *learnedModels {
	if l.mu.TryLock() {
		if time.Since(l.read) >= learnEvery {
			_ = l.load(ctx)
		}
		l.mu.Unlock()
	}
	return l.value.Load()
}

// load reads the document.
func (l *learned) load(ctx context.Context) error {
	l.read = time.Now()
	data, revision, err := l.store.Document(ctx, learnedDocument)
	if err != nil || revision == l.revision {
		return err
	}
	value := &learnedModels{}
	if len(data) > 0 {
		if value, err = parseLearned(data); err != nil {
			return err
		}
	}
	l.value.Store(value)
	l.revision = revision
	return nil
}

// change replaces the models by what change makes of them, durably. If change
// returns an error, which change then returns as it is, nothing changes. It is
// called again where another engine was quicker.
func (l *learned) change(ctx context.Context, change func(*learnedModels) (*learnedModels, error)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if err := l.load(ctx); err != nil {
			return err
		}
		value, err := change(l.value.Load())
		if err != nil {
			return err
		}
		data, err := textOfLearned(value)
		if err != nil {
			return err
		}
		revision, err := l.store.PutDocument(ctx, learnedDocument, l.revision, data)
		if errors.Is(err, store.ErrConflict) {
			continue
		}
		if err != nil {
			return err
		}
		l.value.Store(value)
		l.revision = revision
		return nil
	}
}

// changeLearned replaces the list of models of a category by what change makes
// of it, durably.
func (e *Engine) changeLearned(ctx context.Context, c screen.Category, change func([]*models.BayesFile) ([]*models.BayesFile, error)) error {
	err := e.learned.change(ctx, func(l *learnedModels) (*learnedModels, error) {
		list, err := change(slices.Clone(l.of[c]))
		if err != nil {
			return nil, err
		}
		return l.with(c, list[:min(len(list), formerModels+1)]), nil
	})
	if err != nil && !errors.Is(err, ErrConflict) {
		return fmt.Errorf("voicescreen: learned models: %w", err)
	}
	return err
}

// Revert goes back from the learned model of a category that is in use to the
// one before it, in the end to the shipped one. The model that was in use is
// dropped. Scores that were given stay. The error is ErrConflict where none
// was learned, or where the model is of Options.Models.
func (e *Engine) Revert(c screen.Category) error {
	if err := e.scorers().learns(c); err != nil {
		return err
	}
	return e.changeLearned(e.ctx, c, func(list []*models.BayesFile) ([]*models.BayesFile, error) {
		if len(list) == 0 {
			return nil, fmt.Errorf("%w: the %v model in use was not learned from labels", ErrConflict, c)
		}
		return list[1:], nil
	})
}
