package voicescreen

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/voicescreen/voicescreen/internal/durable"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// learnedModels are the models that were learned from labels, or those whose norms
// were adapted to recordings without labels, for each category the newest first and
// the former ones behind it. None is ever changed.
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

// adaptedDocument is the name of the store's document of shipped models with adapted
// norms.
const adaptedDocument = "adapted-models"

// adaptedFormat is the format of that document.
const adaptedFormat = "voicescreen-adapted/1"

// learnedFile is the shape of the document.
type learnedFile[T any] struct {
	Format string                  `json:"format"`
	Models map[screen.Category][]T `json:"models"`
}

// learnedText is how learned models stand in their document, adaptedText how adapted
// ones do.
var (
	learnedText = durable.Format[*learnedModels]{Parse: parseLearned, Text: textOfLearned, MaxBytes: screen.MaxDocument}
	adaptedText = durable.Format[*learnedModels]{Parse: parseAdapted, Text: textOfAdapted, MaxBytes: screen.MaxDocument}
)

// parseLearned reads a document of learned models. It refuses unknown members and
// invalid models.
func parseLearned(data []byte) (*learnedModels, error) {
	return parseModels(data, learnedFormat, "learned")
}

func textOfLearned(l *learnedModels) ([]byte, error) { return textOfModels(l, learnedFormat) }

// parseAdapted reads a document of adapted models, as parseLearned does. Each model
// must say what it was adapted to, and must not be learned from labels.
func parseAdapted(data []byte) (*learnedModels, error) {
	l, err := parseModels(data, adaptedFormat, "adapted")
	if err != nil {
		return nil, err
	}
	for c, list := range l.of {
		for i, m := range list {
			if m.Adapted == nil || m.IsCalibrated {
				return nil, fmt.Errorf("model %d of %v is not a shipped model with adapted norms", i+1, c)
			}
		}
	}
	return l, nil
}

func textOfAdapted(l *learnedModels) ([]byte, error) { return textOfModels(l, adaptedFormat) }

// parseModels reads a document of models of a format. Kind is what the models are, in
// a word.
func parseModels(data []byte, format, kind string) (*learnedModels, error) {
	var f learnedFile[json.RawMessage]
	if err := durable.DecodeJSON(data, &f); err != nil {
		return nil, fmt.Errorf("not a document of %s models: %w", kind, err)
	}
	if f.Format != format {
		return nil, fmt.Errorf("format is %.40q, want %q", f.Format, format)
	}
	out := &learnedModels{of: map[screen.Category][]*models.BayesFile{}}
	for c, list := range f.Models {
		if len(list) > formerModels+1 {
			return nil, fmt.Errorf("%d models of %v, want at most %d", len(list), c, formerModels+1)
		}
		for i, text := range list {
			m, err := models.ReadBayes(bytes.NewReader(text))
			if err != nil {
				return nil, fmt.Errorf("model %d of %v: %w", i+1, c, err)
			}
			if m.Category != c {
				return nil, fmt.Errorf("model %d of %v is of %v", i+1, c, m.Category)
			}
			out.of[c] = append(out.of[c], m)
		}
	}
	return out, nil
}

func textOfModels(l *learnedModels, format string) ([]byte, error) {
	f := learnedFile[json.RawMessage]{Format: format, Models: map[screen.Category][]json.RawMessage{}}
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

// newest returns the newest model of a category; nil if there is none.
func (l *learnedModels) newest(c screen.Category) *models.BayesFile {
	if list := l.of[c]; len(list) > 0 {
		return list[0]
	}
	return nil
}
