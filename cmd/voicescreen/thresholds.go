package main

import (
	"fmt"
	"os"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/screen"
)

// readThresholds reads the file of thresholds at path, none for "".
func readThresholds(path string) (screen.AccountThresholds, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("thresholds %s: %w", path, command.Bare(err))
	}
	defer f.Close()
	a, err := screen.ReadThresholds(f)
	if err != nil {
		return nil, fmt.Errorf("thresholds %s: %w", path, err)
	}
	return a, nil
}
