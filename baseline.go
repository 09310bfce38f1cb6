package voicescreen

import (
	"context"
	"errors"
	"fmt"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
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
// have them. Beside store.ErrDamaged it returns those of the sessions since the
// one that cannot be read.
func (e *Engine) earlier(ctx context.Context, s *store.Session) (out []features.Vector, err error) {
	cursor := s.Cursor()
	list, err := e.store.List(ctx, s.Account, s.UserID, &cursor, earlierPage)
	if errors.Is(err, store.ErrDamaged) {
		list, err = e.listWhole(ctx, s)
	}
	if err != nil {
		err = fmt.Errorf("voicescreen: list earlier sessions: %w", err)
	}
	for _, x := range list {
		if x.ID == s.ID || !x.CreatedAt.Before(s.CreatedAt) || x.Status != screen.StatusSuccess || x.Product == screen.DeepfakeBinary {
			continue
		}
		if out = append(out, features.VoiceSchema().Vector(x.Features)); len(out) == maxEarlier {
			return out, nil
		}
	}
	return out, err
}

// listWhole lists the sessions of the user before s one by one, up to the first
// that cannot be read, whose error it returns beside them.
func (e *Engine) listWhole(ctx context.Context, s *store.Session) (list []*store.Session, err error) {
	cursor := s.Cursor()
	for len(list) < earlierPage {
		one, err := e.store.List(ctx, s.Account, s.UserID, &cursor, 1)
		if err != nil || len(one) == 0 {
			return list, err
		}
		list, cursor = append(list, one[0]), one[0].Cursor()
	}
	return list, nil
}
