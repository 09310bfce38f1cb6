package shipped

import (
	"embed"
	"fmt"
	"slices"
	"sync"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

//go:embed files/*.json
var shippedFiles embed.FS

// shipped names the embedded files in the order of their categories.
var shipped = []string{"depression.json", "anxiety.json", "deepfake.json"}

// Scorers returns the scorers that come with the module: depression, anxiety
// and deepfake, in that order. Their cards are DEPRESSION.md, ANXIETY.md and
// DEEPFAKE.md beside this file. An error means that the build is broken. The
// files are read once, at the first call.
func Scorers() ([]models.Scorer, error) {
	scorers, err := loadAllShipped()
	return slices.Clone(scorers), err
}

// Bayes returns the shipped model of a category that learns from
// labels: depression or anxiety. The caller must not change it.
func Bayes(c screen.Category) (*models.BayesFile, error) {
	scorers, err := loadAllShipped()
	if err != nil {
		return nil, err
	}
	for _, s := range scorers {
		if b, ok := s.(*models.Bayes); ok && b.File().Category == c {
			return b.File(), nil
		}
	}
	return nil, fmt.Errorf("models: the shipped %v model does not learn from labels", c)
}

var loadAllShipped = sync.OnceValues(func() ([]models.Scorer, error) {
	var scorers []models.Scorer
	for _, name := range shipped {
		s, err := loadShipped(name)
		if err != nil {
			return nil, err
		}
		scorers = append(scorers, s)
	}
	return scorers, nil
})

func loadShipped(name string) (models.Scorer, error) {
	r, err := shippedFiles.Open("files/" + name)
	if err != nil {
		return nil, fmt.Errorf("models: shipped model: %w", err)
	}
	defer r.Close()
	s, err := models.Load(r)
	if err != nil {
		return nil, fmt.Errorf("models: shipped model %s: %w", name, err)
	}
	return s, nil
}
