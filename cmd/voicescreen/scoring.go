package main

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

// scoringFlags are the flags about what the scores suppose.
type scoringFlags struct {
	rates     []string
	fixedGain bool
}

func (f *scoringFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.rates, "base-rate", nil, "share of people with a score of 10 or more, as depression=0.2 or anxiety=0.1 (repeatable; default US adults, 0.080 and 0.061; a model that was calibrated on labels has its own)")
	cmd.Flags().BoolVar(&f.fixedGain, "fixed-gain", false, "all recordings are made at the same gain: let the level of the voice count")
}

// set puts the flags into the options of an engine.
func (f *scoringFlags) set(o *voicescreen.ScoringOptions) error {
	o.FixedGain = f.fixedGain
	for _, text := range f.rates {
		name, value, _ := strings.Cut(text, "=")
		var c screen.Category
		rate, err := strconv.ParseFloat(value, 64)
		if c.UnmarshalText([]byte(name)) != nil || c == screen.Deepfake || err != nil || !(rate > 0 && rate < 1) {
			return usagef("--base-rate is %q, want depression=SHARE or anxiety=SHARE with a share between 0 and 1", text)
		}
		if o.BaseRates == nil {
			o.BaseRates = map[screen.Category]float64{}
		}
		o.BaseRates[c] = rate
	}
	return nil
}

// flagPrior says which share of recordings is synthetic.
const flagPrior = "deepfake-prior"

func addPrior(cmd *cobra.Command, prior *float64) {
	cmd.Flags().Float64Var(prior, flagPrior, 0, "share of synthetic recordings, above 0 and below 1, that the deepfake score is to suppose (default that of the model, 0.5 of the shipped one)")
}

// checkPrior returns a usage error for a share that was given and is none.
func checkPrior(cmd *cobra.Command, prior float64) error {
	if given(cmd, flagPrior) != "" && !(prior > 0 && prior < 1) {
		return usagef("--%s is %v, want above 0 and below 1", flagPrior, prior)
	}
	return nil
}

// calibrateEvery calibrates the models again and again until ctx is done.
func calibrateEvery(ctx context.Context, e *voicescreen.Engine, every time.Duration, log *slog.Logger) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		found, err := e.Calibrate(ctx, nil)
		if err != nil && ctx.Err() == nil && !errors.Is(err, voicescreen.ErrClosed) {
			log.Error("calibrate", "error", err)
		}
		for _, c := range found {
			log.Info("calibrated", "category", c.Category.String(), "activated", c.Activated, "reason", c.Reason)
		}
	}
}
