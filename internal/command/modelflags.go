package command

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/process"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/models/ssl"
	"github.com/voicescreen/voicescreen/screen"
)

// ModelFlags are the flags --model, --model-share and --scorer-command with its like.
type ModelFlags struct {
	Paths []string
	Share string // see Cascade

	scorer ScorerFlags
}

// Add adds the flags to a command.
func (f *ModelFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.Paths, "model", nil, "a model file, or directory of Hugging Face, that replaces the shipped model of its category (repeatable)")
	AddModelShare(cmd, &f.Share)
	f.scorer.Add(cmd)
}

// AddModelShare adds the flag --model-share to a command.
func AddModelShare(cmd *cobra.Command, share *string) {
	cmd.Flags().StringVar(share, "model-share", "", "ask a detector given with --model or --scorer-command only about some recordings, and the shipped model about all: \"undecided\", where that leaves the decision open before prior and thresholds, or a share from 0.05 to 0.95, those whose shipped score is nearest to one half (default all)")
	Values(cmd, "model-share", "undecided", "0.2", "0.5")
}

// Load loads the models and starts the program of --scorer-command, with the number of
// processes and the logger of opts. Rates are the base rates: the share of people with a
// PHQ-9 or GAD-7 of 10 or more, 0 to 1; a missing one means the model's own. Ctx is that
// of the start. The caller calls CloseModels.
func (f *ModelFlags) Load(ctx context.Context, rates map[screen.Category]float64, opts process.Options) (scorers []models.Scorer, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, CloseModels(scorers))
			scorers = nil
		}
	}()
	detector := false
	for _, path := range f.Paths {
		s, err := LoadModel(path, rates)
		if err != nil {
			return scorers, err
		}
		scorers = append(scorers, s)
	}
	program, err := f.scorer.Open(ctx, opts)
	if err != nil {
		return scorers, err
	}
	if program != nil {
		scorers = append(scorers, program)
	}
	for i, s := range scorers {
		detector = detector || isDetector(s)
		c, err := Cascade(s, f.Share)
		if err != nil {
			return scorers, err
		}
		scorers[i] = c
	}
	if f.Share != "" && !detector {
		return scorers, Usagef("--model-share is for a detector of synthetic voices given with --model or --scorer-command")
	}
	return scorers, nil
}

// isDetector reports whether a scorer is a detector of synthetic voices that costs much.
func isDetector(s models.Scorer) bool {
	switch s := s.(type) {
	case *ssl.Model:
		return true
	case *process.Scorer:
		return slices.Equal(s.Info().Categories, []screen.Category{screen.Deepfake})
	}
	return false
}

// margins are the quantiles of the distance between the logit of the shipped deepfake
// score and 0, by the share of recordings that are nearer, in steps of 0.05. Measured
// with version 3.12.0 on the 289 clips of validation of its card, on 2026-11-25.
var margins = []float64{0, 0.38, 0.8, 1.06, 1.34, 1.69, 1.97, 2.42, 2.84, 3.28, 3.75, 3.97, 4.45, 4.78, 5.05, 5.51, 5.99, 6.74, 8.16, 9.65}

// marginStep is the share between two margins.
const marginStep = 0.05

// Cascade returns the scorer that asks s, if it is a detector, only about this share of
// the recordings, those about which the shipped model is least sure. Share is the value
// of --model-share: "" for all, "undecided", or a number.
func Cascade(s models.Scorer, share string) (models.Scorer, error) {
	if !isDetector(s) || share == "" {
		return s, nil
	}
	margin := 0.0
	if share != "undecided" {
		v, err := strconv.ParseFloat(share, 64)
		if err != nil || !(v >= marginStep && v <= 1-marginStep) {
			return nil, Usagef("--model-share is %q, want undecided or a share from 0.05 to 0.95", share)
		}
		at := v / marginStep
		i := min(int(at), len(margins)-2)
		margin = margins[i] + (at-float64(i))*(margins[i+1]-margins[i])
	}
	first, err := shippedDeepfake()
	if err != nil {
		return nil, err
	}
	return models.NewCascade(first, s, margin)
}

// shippedDeepfake returns the shipped scorer of synthetic voices.
func shippedDeepfake() (models.Scorer, error) {
	all, err := shipped.Scorers()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(s models.Scorer) bool { return slices.Contains(s.Info().Categories, screen.Deepfake) })
	if i < 0 {
		return nil, errors.New("no deepfake model is shipped")
	}
	return all[i], nil
}
