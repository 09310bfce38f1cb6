package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
)

// calibrateEvery calibrates the models again and again until ctx is done.
func calibrateEvery(ctx context.Context, e *voicescreen.Engine, every time.Duration, log *slog.Logger, metrics *httpadapter.Metrics) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
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
