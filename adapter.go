package voicescreen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/learn"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// mostVoices is how many recordings Adapt takes at most. Chosen: the means of so many
// people are known to a hundredth of a standard deviation, and their features need
// 20 MB.
const mostVoices = 20_000

// Adapt is Engine.Adapt.
func (l *learner) Adapt(ctx context.Context, o *AdaptOptions) ([]*Adaptation, error) {
	end, err := l.begin(o.DryRun)
	if err != nil {
		return nil, err
	}
	defer end()
	categories, err := l.categories(o.Categories)
	if err != nil {
		return nil, err
	}
	found, err := recordedVoices(ctx, l.store, o, mostVoices)
	if err != nil {
		return nil, err
	}
	if found.damaged.Records > 0 {
		l.log.Error("adapt without sessions that cannot be read", "sessions", found.damaged.Records, "error", found.damaged.Err)
	}
	var out []*Adaptation
	for _, c := range categories {
		a, err := l.adapt(ctx, c, found.list, o)
		if err != nil {
			return out, err
		}
		a.Skipped, a.Damaged = found.skipped, found.damaged.Records
		out = append(out, a)
	}
	return out, nil
}

// adapt adapts the norms of one category.
func (l *learner) adapt(ctx context.Context, c screen.Category, voices []learn.Voice, o *AdaptOptions) (*Adaptation, error) {
	out := &Adaptation{Category: c}
	inUse, err := l.bayes(c)
	if err != nil {
		out.Reason = err.Error()
		return out, nil
	}
	out.Waits = inUse.Info().Calibrated
	prior, err := shipped.Bayes(c)
	if err != nil {
		return nil, fmt.Errorf("voicescreen: shipped models: %w", err)
	}
	norms, err := l.prior(c)
	if err != nil {
		return nil, err
	}
	former, err := models.NewBayes(norms)
	if err != nil {
		return nil, fmt.Errorf("voicescreen: adapted models: %w", err)
	}
	// Versions must be unique: norms that are adapted a second later may differ.
	version := fmt.Sprintf("%s+norms.%s", prior.Version, l.now().UTC().Format("20060102T150405Z"))
	adapted, err := learn.Adapt(ctx, prior, former, voices, &learn.AdaptOptions{Version: version, Seed: o.Seed, BaseRate: l.opts.BaseRates[c]})
	switch {
	case errors.Is(err, learn.ErrFewPeople):
		out.Reason = err.Error()
		return out, nil
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("voicescreen: adapt %v: %w", c, err)
	}
	out.Adapted, out.Reason = adapted, adapted.Reason
	switch {
	case !adapted.Better:
		return out, nil
	case o.DryRun:
		out.Reason += "; not activated, as asked"
		return out, nil
	}
	err = changeModels(l.adapted, c, func(list []*models.BayesFile) ([]*models.BayesFile, error) {
		return slices.Insert(list, 0, adapted.File), nil
	})
	if err != nil {
		return nil, err
	}
	out.Activated = true
	return out, nil
}

// RevertNorms is Engine.RevertNorms.
func (l *learner) RevertNorms(c screen.Category) error {
	if err := l.Scorers().learns(c); err != nil {
		return err
	}
	return changeModels(l.adapted, c, func(list []*models.BayesFile) ([]*models.BayesFile, error) {
		if len(list) == 0 {
			return nil, fmt.Errorf("%w: the norms of the %v model are the shipped ones", ErrConflict, c)
		}
		return list[1:], nil
	})
}

// recorded is the recordings that norms are adapted to.
type recorded struct {
	list    []learn.Voice
	skipped int // sessions without features
	damaged store.DamagedError
}

// recordedVoices reads the recordings of the sessions that o asks for, of at most so
// many of them.
func recordedVoices(ctx context.Context, st store.Store, o *AdaptOptions, most int) (*recorded, error) {
	out := &recorded{}
	after := ""
	for {
		list, err := st.Scan(ctx, after, scanPage)
		if err := out.damaged.Add(err); err != nil {
			return nil, internal("scan for recordings", err)
		}
		for _, s := range list {
			after = s.ID
			switch {
			case s.Status != screen.StatusSuccess, s.SubmittedAt.Before(o.Since), s.Product == screen.DeepfakeBinary,
				o.Accounts != nil && !slices.Contains(o.Accounts, s.Account):
			case len(s.Features) == 0:
				out.skipped++
			default:
				out.list = append(out.list, learn.Voice{Account: s.Account, User: s.UserID, Time: s.SubmittedAt, Recording: recordingOf(s)})
			}
		}
		if len(out.list) > 2*most {
			out.list = drawPeople(out.list, most)
		}
		if len(list) < scanPage {
			break
		}
	}
	out.list = drawPeople(out.list, most)
	return out, nil
}

// drawPeople returns at most so many recordings, those of the people with the smallest
// hashes, who are as good as drawn at random: all of a person or none, unless one
// person has more.
func drawPeople(list []learn.Voice, most int) []learn.Voice {
	if len(list) <= most {
		return list
	}
	hash := make(map[[2]string]uint64)
	of := func(v *learn.Voice) uint64 {
		who := [2]string{v.Account, v.User}
		x, ok := hash[who]
		if !ok {
			h := fnv.New64a()
			h.Write([]byte(v.Account + "\x00" + v.User))
			x = h.Sum64() * 0x9E3779B97F4A7C15 // spreads the differences of short names
			hash[who] = x
		}
		return x
	}
	slices.SortStableFunc(list, func(a, b learn.Voice) int { return cmp.Compare(of(&a), of(&b)) })
	end := most
	for end > 0 && of(&list[end-1]) == of(&list[end]) {
		end--
	}
	if end == 0 {
		end = most
	}
	clear(list[end:]) // lets go of their features
	return list[:end]
}
