package command

import (
	"fmt"
	"io"
	"os"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/dam"
	"github.com/voicescreen/voicescreen/screen"
)

// LoadModels loads model files of any kind, for people of whom the shares in rates
// have a score of 10 or more.
func LoadModels(paths []string, rates map[screen.Category]float64) ([]models.Scorer, error) {
	var scorers []models.Scorer
	for _, path := range paths {
		s, err := LoadModel(path, rates)
		if err != nil {
			return nil, err
		}
		scorers = append(scorers, s)
	}
	return scorers, nil
}

// LoadModel loads a model file, whose kind its first bytes say. Only DAM takes the
// rates here: the engine sets those of other models.
func LoadModel(path string, rates map[screen.Category]float64) (models.Scorer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", path, Bare(err))
	}
	head := make([]byte, 16)
	n, err := io.ReadFull(f, head)
	f.Close()
	if err == nil && dam.Is(head[:n]) {
		return dam.Open(path, damOptions(rates))
	}
	return models.LoadFile(path) // which says what is wrong with it
}

func damOptions(rates map[screen.Category]float64) *dam.ScorerOptions {
	return &dam.ScorerOptions{Depression: rates[screen.Depression], Anxiety: rates[screen.Anxiety]}
}
