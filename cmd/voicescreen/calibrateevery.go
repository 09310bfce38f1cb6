package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
)

// calibrateEvery adapts the norms and then calibrates the models, which begins with
// them, again and again until ctx is done.
func calibrateEvery(ctx context.Context, e *voicescreen.Engine, every time.Duration, log *slog.Logger, metrics *httpadapter.Metrics) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		adapted, err := e.Adapt(ctx, nil)
		if ctx.Err() != nil || errors.Is(err, voicescreen.ErrClosed) {
			err = nil // the service ends
		}
		if err != nil {
			log.Error("adapt", "error", err)
		}
		metrics.OnAdaptation(adapted, err)
		for _, a := range adapted {
			log.Info("adapted", "category", a.Category.String(), "activated", a.Activated, "reason", a.Reason)
		}
		found, err := e.Calibrate(ctx, nil)
		if ctx.Err() != nil || errors.Is(err, voicescreen.ErrClosed) {
			err = nil // the service ends
		}
		if err != nil {
			log.Error("calibrate", "error", err)
		}
		metrics.OnCalibration(found, err)
		for _, c := range found {
			log.Info("calibrated", "category", c.Category.String(), "activated", c.Activated, "reason", c.Reason)
		}
	}
}
