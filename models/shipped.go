package models

import (
	"embed"
	"fmt"
	"slices"
	"sync"

	"github.com/voicescreen/voicescreen/screen"
)

//go:embed files/*.json
var shippedFiles embed.FS

// shipped names the embedded files in the order of their categories.
var shipped = []string{"depression.json", "anxiety.json", "deepfake.json"}

// Shipped returns the scorers that come with the module: depression, anxiety
// and deepfake, in that order. Their cards are DEPRESSION.md, ANXIETY.md and
// DEEPFAKE.md beside this file. An error means that the build is broken. The
// files are read once, at the first call.
func Shipped() ([]Scorer, error) {
	scorers, err := loadAllShipped()
	return slices.Clone(scorers), err
}

// ShippedBayes returns the shipped model of a category that learns from
// labels: depression or anxiety. The caller must not change it.
func ShippedBayes(c screen.Category) (*BayesFile, error) {
	scorers, err := loadAllShipped()
	if err != nil {
		return nil, err
	}
	for _, s := range scorers {
		if b, ok := s.(*Bayes); ok && b.file.Category == c {
			return b.file, nil
		}
	}
	return nil, fmt.Errorf("models: the shipped %v model does not learn from labels", c)
}

var loadAllShipped = sync.OnceValues(func() ([]Scorer, error) {
	var scorers []Scorer
	for _, name := range shipped {
		s, err := loadShipped(name)
		if err != nil {
			return nil, err
		}
		scorers = append(scorers, s)
	}
	return scorers, nil
})

func loadShipped(name string) (Scorer, error) {
	r, err := shippedFiles.Open("files/" + name)
	if err != nil {
		return nil, fmt.Errorf("models: shipped model: %w", err)
	}
	defer r.Close()
	s, err := Load(r)
	if err != nil {
		return nil, fmt.Errorf("models: shipped model %s: %w", name, err)
	}
	return s, nil
}
