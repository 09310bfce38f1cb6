package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/lab/manifest"
	"github.com/voicescreen/voicescreen/lab/report"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/process"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
)

// rowScorer scores labelled recordings by one model, whose probabilities suppose
// what those of the service do.
type rowScorer struct {
	models.Scorer
	against models.Scorer // a second model; nil for none
	task    screen.Category
	scoring voicescreen.ScoringOptions
}

// shippedModel is the value of --against that names the shipped model of the task.
const shippedModel = "shipped"

// newRowScorer loads the models, and starts the program of --scorer-command. The caller
// closes the scorer.
func newRowScorer(ctx context.Context, task screen.Category, o evaluateOptions) (_ *rowScorer, err error) {
	s := &rowScorer{task: task, scoring: voicescreen.ScoringOptions{DeepfakePrior: o.prior}}
	if err := o.scoring.Set(&s.scoring); err != nil {
		return nil, err
	}
	if s.Scorer, err = s.measured(ctx, o); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, command.CloseModels([]models.Scorer{s.Scorer}))
		}
	}()
	cascade, err := command.Cascade(s.Scorer, o.share)
	if err != nil {
		return nil, err
	}
	s.Scorer = cascade
	if _, ok := s.Scorer.(*models.Cascade); o.share != "" && !ok {
		return nil, command.Usagef("--model-share is for a detector of synthetic voices given with --model or --scorer-command")
	}
	switch o.against {
	case "":
	case shippedModel:
		s.against, err = s.load("")
	default:
		s.against, err = s.load(o.against)
	}
	if err != nil {
		return nil, fmt.Errorf("--against: %w", err)
	}
	return s, nil
}

// measured returns the model that is measured: a program, a file or the shipped one.
func (s *rowScorer) measured(ctx context.Context, o evaluateOptions) (models.Scorer, error) {
	program, err := o.program.Open(ctx, process.Options{})
	if err != nil {
		return nil, err
	}
	if program == nil {
		return s.load(o.model)
	}
	if categoryIndex(program.Info(), s.task) < 0 {
		err := fmt.Errorf("the program of --scorer-command is for %v, not for %v", program.Info().Categories, s.task)
		return nil, errors.Join(err, program.Close())
	}
	return program, nil
}

// load loads the model at path, or the shipped one of the task for "".
func (s *rowScorer) load(path string) (models.Scorer, error) {
	model, err := taskScorer(s.task, path, s.scoring.BaseRates)
	if err != nil {
		return nil, err
	}
	return models.WithBaseRates(model, s.scoring.BaseRates)
}

// taskScorer loads the model at path, or takes the shipped one of the task. The
// rates are as of loadModel.
func taskScorer(task screen.Category, path string, rates map[screen.Category]float64) (models.Scorer, error) {
	if path != "" {
		s, err := command.LoadModel(path, rates)
		if err != nil {
			return nil, err
		}
		if categoryIndex(s.Info(), task) < 0 {
			return nil, fmt.Errorf("model %s is for %v, not for %v", path, s.Info().Categories, task)
		}
		return s, nil
	}
	shipped, err := shipped.Scorers()
	if err != nil {
		return nil, err
	}
	for _, s := range shipped {
		if categoryIndex(s.Info(), task) >= 0 {
			return s, nil
		}
	}
	return nil, fmt.Errorf("no model for %v is shipped, want --model", task)
}

// categoryIndex is the place of a category among the scores of a model, -1 if
// it has none.
func categoryIndex(info models.Info, c screen.Category) int {
	for i, have := range info.Categories {
		if have == c {
			return i
		}
	}
	return -1
}

// row scores one recording.
func (s *rowScorer) row(ctx context.Context, r *manifest.Row, in *features.Recording) (report.Row, error) {
	row := report.Row{
		Positive: r.Positive, Source: r.Origin(), System: r.System, Kind: r.Kind, Train: r.Use == "train",
		SNR: in.Analysis.Quality.SNR, Groups: r.Groups(),
	}
	switch {
	case s.task != screen.Deepfake && r.Person() != "": // whatever they are labelled, recordings of one person resemble each other
		row.Cluster = r.Person()
	case r.Source != "" || r.System != "":
		row.Cluster = r.Cluster()
	}
	if r.HasTotal {
		row.Class = screen.SeverityOf(s.task, r.Total)
	}
	if f := (features.Limits{}).Refuse(s.task, in.Analysis); f != nil {
		row.Refused = f.Code
	}
	in.Metadata, in.FixedGain, in.Speech = r.Metadata, s.scoring.FixedGain, s.scoring.Speech
	var err error
	if row.Score, err = s.score(ctx, s.Scorer, in); err != nil || s.against == nil {
		return row, err
	}
	row.Other, err = s.score(ctx, s.against, in)
	return row, err
}

// score returns the score of the task by one model.
func (s *rowScorer) score(ctx context.Context, model models.Scorer, in *features.Recording) (screen.Score, error) {
	scores, err := model.Score(ctx, in)
	if err != nil {
		return screen.Score{}, err
	}
	i := categoryIndex(model.Info(), s.task)
	if i >= len(scores) {
		return screen.Score{}, errors.New("the model gives no score")
	}
	score := scores[i]
	if score.Decision == 0 { // left to the service
		score.DeriveDecision()
	}
	if s.task == screen.Deepfake {
		score.SetPrior(s.scoring.DeepfakePrior)
	}
	return score, nil
}
