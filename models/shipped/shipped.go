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
// DEEPFAKE.md beside this file. The anxiety scorer leaves its decision open: there
// is no evidence that it is better than the base rate. An error means that the build
// is broken. The files are read once, at the first call.
func Scorers() ([]models.Scorer, error) {
	scorers, err := inUse()
	return slices.Clone(scorers), err
}

var inUse = sync.OnceValues(func() ([]models.Scorer, error) {
	files, err := loadAllShipped()
	if err != nil {
		return nil, err
	}
	list := slices.Clone(files)
	for i, s := range list {
		b, ok := s.(*models.Bayes)
		if !ok || b.File().Category != screen.Anxiety {
			continue
		}
		if list[i], err = b.Undecided(); err != nil {
			return nil, fmt.Errorf("models: shipped model: %w", err)
		}
	}
	return list, nil
})

// Bayes returns the file of the shipped model of a category that learns from
// labels: depression or anxiety. Its decision is that of the file, open or not. The
// caller must not change it.
func Bayes(c screen.Category) (*models.BayesFile, error) {
	files, err := loadAllShipped()
	if err != nil {
		return nil, err
	}
	for _, s := range files {
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
