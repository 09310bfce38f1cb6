package voicescreen

import (
	"context"
	"fmt"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/store"
)

// maxEarlier is how many earlier recordings of a person one is compared with.
// Chosen: with five, four fifths of what a mean of many would give are there
// for a measure of which half of the variance is within people.
const maxEarlier = 5

// earlierPage is how many sessions of a user are looked at for them. Chosen:
// some failed, or were initiated only.
const earlierPage = 20

// earlier returns the features of the last sessions of the user before s that
// have them.
func (e *Engine) earlier(ctx context.Context, s *store.Session) ([]models.Vector, error) {
	cursor := s.Cursor()
	list, err := e.store.List(ctx, s.Account, s.UserID, &cursor, earlierPage)
	if err != nil {
		return nil, fmt.Errorf("voicescreen: list earlier sessions: %w", err)
	}
	var out []models.Vector
	for _, x := range list {
		if x.ID == s.ID || !x.CreatedAt.Before(s.CreatedAt) || x.State != store.Succeeded || x.Product == store.Deepfake {
			continue
		}
		if out = append(out, models.VoiceSchema().Vector(x.Features)); len(out) == maxEarlier {
			break
		}
	}
	return out, nil
}
