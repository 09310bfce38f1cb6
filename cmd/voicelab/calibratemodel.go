package main

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/models/learn"
	"github.com/voicescreen/voicescreen/models/ssl"
	"github.com/voicescreen/voicescreen/screen"
)

// minCalibrated is the least number of recordings of each class that calibrate a model.
// Chosen: with fewer, the offset is known to no better than a factor of 1.5 in the odds.
const minCalibrated = 10

func newCalibrateModel() *cobra.Command {
	var scores, on string
	cmd := &cobra.Command{
		Use:   "calibrate --scores FILE.csv --on TEXT MODEL FILE",
		Short: "Calibrate the probabilities of a detector on labelled recordings",
		Long: `Fit the probabilities of a detector of synthetic voices to labelled recordings by
Platt's method (1999), and write the detector with this calibration to FILE. Without
one its answers say that they are not calibrated. The order of the scores stays.

The scores are a CSV file with the columns path, label and score, as "voicelab
evaluate --model MODEL --scores" writes it, without --deepfake-prior. They must be of
recordings that the detector was not trained on, at least 10 of each class. The
probabilities then assume the share of synthetic recordings among them;
--deepfake-prior of the commands states another one. Measure the result on other
recordings.`,
		Example: "  voicelab evaluate --task deepfake --manifest ours.csv --model mms_300m.model --scores scores.csv\n" +
			"  voicelab model calibrate --scores scores.csv --on \"200 calls of 2026\" mms_300m.model ours.model",
		Args: command.Args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if scores == "" || on == "" {
				return command.Usagef("--scores and --on are needed")
			}
			return runCalibrateModel(cmd, scores, on, args[0], args[1])
		},
	}
	cmd.Flags().StringVar(&scores, "scores", "", "the labelled scores (required)")
	cmd.Flags().StringVar(&on, "on", "", "the recordings, in words (required)")
	command.NoValues(cmd, "on")
	return cmd
}

func runCalibrateModel(cmd *cobra.Command, scores, on, from, to string) error {
	s, err := readScores(scores, screen.Deepfake)
	if err != nil {
		return fmt.Errorf("scores %s: %w", scores, err)
	}
	positives := 0.0
	logits := make([]float64, len(s.score))
	for i, p := range s.score {
		if s.positive[i] {
			positives++
		}
		p = min(max(p, leastScore), 1-leastScore)
		logits[i] = math.Log(p / (1 - p))
	}
	n := float64(len(s.score))
	if positives < minCalibrated || n-positives < minCalibrated {
		return fmt.Errorf("scores %s: %.0f synthetic and %.0f genuine recordings, want at least %d of each", scores, positives, n-positives, minCalibrated)
	}
	a, b, err := learn.Platt(logits, s.positive, nil)
	if err != nil {
		return fmt.Errorf("scores %s: %w", scores, err)
	}
	if !(a > 0) {
		return fmt.Errorf("scores %s: synthetic recordings do not have higher scores than genuine ones, so they calibrate nothing", scores)
	}
	m, err := ssl.Open(from, nil)
	if err != nil {
		return err
	}
	if m, err = m.Recalibrated(ssl.Calibration{A: a, B: b, Prior: positives / n, On: on}); err != nil {
		return err
	}
	out, err := command.NewOutput(to)
	if err != nil {
		return err
	}
	defer out.Discard()
	if err := out.Finish(m.Write); err != nil {
		return err
	}
	command.PrintOrigins(cmd, m)
	p := &command.Printer{W: cmd.OutOrStdout()}
	p.Printf("calibration  logit = %.4f · score %+.4f, on %.0f synthetic and %.0f genuine recordings\n", a, b, positives, n-positives)
	return p.Err
}

// leastScore keeps the logit of a score of 0 or 1 finite.
const leastScore = 1e-12
