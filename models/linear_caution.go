package models

import (
	"slices"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
)

// cautions returns the cautions of the score of a recording, ascending. enough is
// whether the recording has enough speech for the model.
func (l *Linear) cautions(in *features.Recording, p *prediction, enough bool) []screen.Caution {
	c := in.Cautions()
	if !enough && !slices.Contains(c, screen.LittleSpeech) {
		c = append(c, screen.LittleSpeech)
	}
	if most := l.file.Outside; most > 0 && p.outside > most {
		c = append(c, screen.Unfamiliar)
	}
	slices.Sort(c)
	return c
}
