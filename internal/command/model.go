package command

import (
	"fmt"
	"io"
	"os"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/dam"
	"github.com/voicescreen/voicescreen/screen"
)

// LoadModels loads model files of any kind. Rates are the base rates: the share of people
// with a PHQ-9 or GAD-7 of 10 or more, 0 to 1; a missing one means the model's own.
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

// LoadModel loads a model file of any kind, which its first bytes determine. Only DAM uses
// the base rates here; the engine sets those of other models.
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
	return models.LoadFile(path) // its error names the fault of a file of unknown kind
}

func damOptions(rates map[screen.Category]float64) *dam.ScorerOptions {
	return &dam.ScorerOptions{Depression: rates[screen.Depression], Anxiety: rates[screen.Anxiety]}
}
