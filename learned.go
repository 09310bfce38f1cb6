package voicescreen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/voicescreen/voicescreen/internal/durable"
	"github.com/voicescreen/voicescreen/internal/strictjson"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
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

// learnedFormat is the format of the file of learned models.
const learnedFormat = "voicescreen-learned/1"

// learnedFile is what the file looks like.
type learnedFile[T any] struct {
	Format string                  `json:"format"`
	Models map[screen.Category][]T `json:"models"`
}

var learnedText = durable.Format[*learnedModels]{Parse: parseLearned, Text: textOfLearned, MaxBytes: 2 * (formerModels + 1) * models.MaxFileSize}

// parseLearned refuses what it does not wholly understand, as Load does.
func parseLearned(data []byte) (*learnedModels, error) {
	var f learnedFile[*models.BayesFile]
	if err := strictjson.Decode(data, &f); err != nil {
		return nil, fmt.Errorf("is no file of learned models: %w", err)
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

// openLearned opens the file of learned models, which need not be there yet;
// without a path they are in memory.
func openLearned(path string) (*durable.File[*learnedModels], error) {
	empty := &learnedModels{}
	if path == "" {
		return durable.Memory(empty), nil
	}
	f, err := durable.OpenFileOr(path, empty, learnedText)
	if err != nil {
		return nil, fmt.Errorf("voicescreen: learned models: %w", err)
	}
	return f, nil
}

// suffixModels follows the path of a store in the name of its learned models.
const suffixModels = ".models"

// CheckModels reads the models that Calibrate learned on the store at path,
// where Open looks for them. The error says what is wrong with them; a store
// without any has none.
func CheckModels(path string) error {
	_, err := openLearned(path + suffixModels)
	return err
}

// CopyModels copies the models that Calibrate learned on the store at path to
// where Open looks for those of the store at to, durably, and calls next, which
// is to make that store: if it fails the copy is removed, and its error
// returned. There must be no such file yet. A store without learned models is
// no error.
func CopyModels(path, to string, next func() error) error {
	f, err := openLearned(path + suffixModels)
	if err != nil {
		return err
	}
	return withModels(f.Get(), to, next)
}

// withModels writes learned models beside the store at path that next makes.
// Next comes last: a store that is there has its models.
func withModels(l *learnedModels, path string, next func() error) error {
	path += suffixModels
	switch _, err := os.Lstat(path); {
	case err == nil:
		return fmt.Errorf("voicescreen: learned models: %s is there already", path)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("voicescreen: learned models: %w", err)
	}
	written := false
	for _, list := range l.of {
		written = written || len(list) > 0
	}
	if !written {
		return next()
	}
	if _, err := durable.CreateFile(path, l, learnedText); err != nil {
		return fmt.Errorf("voicescreen: learned models: %w", err)
	}
	if err := next(); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
