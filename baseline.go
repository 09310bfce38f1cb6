package voicescreen

import (
	"context"
	"errors"
	"fmt"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// maxEarlier is how many earlier recordings of a person a recording is compared
// with. Chosen: for a measure with half of its variance within people, five give
// four fifths of what the mean of many would.
const maxEarlier = 5

// earlierPage is how many sessions of a user are searched for them. Chosen: some
// of them failed, or were not submitted.
const earlierPage = 20

// earlier returns the features of the last sessions of the user before s that
// have them and are not known to be in another way of speaking. With store.ErrDamaged it also returns those of the sessions since
// the one that cannot be read.
func earlier(ctx context.Context, st store.Store, s *store.Session) (out []features.Vector, err error) {
	cursor := s.Cursor()
	list, err := st.List(ctx, s.Account, s.UserID, &cursor, earlierPage)
	if errors.Is(err, store.ErrDamaged) {
		list, err = listWhole(ctx, st, s)
	}
	if err != nil {
		err = fmt.Errorf("voicescreen: list earlier sessions: %w", err)
	}
	for _, x := range list {
		if x.ID == s.ID || !x.CreatedAt.Before(s.CreatedAt) || x.Status != screen.StatusSuccess || x.Product == screen.DeepfakeBinary {
			continue
		}
		if s.Speech != 0 && x.Speech != 0 && x.Speech != s.Speech {
			continue // another way of speaking: other pauses
		}
		if out = append(out, features.VoiceSchema().Vector(x.Features)); len(out) == maxEarlier {
			return out, nil
		}
	}
	return out, err
}

// listWhole lists the sessions of the user before s one by one, up to the first
// that cannot be read, whose error it returns beside them.
func listWhole(ctx context.Context, st store.Store, s *store.Session) (list []*store.Session, err error) {
	cursor := s.Cursor()
	for len(list) < earlierPage {
		one, err := st.List(ctx, s.Account, s.UserID, &cursor, 1)
		if err != nil || len(one) == 0 {
			return list, err
		}
		list, cursor = append(list, one[0]), one[0].Cursor()
	}
	return list, nil
}
