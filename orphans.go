package voicescreen

import "time"

const (
	// orphanAge is how old audio must be before it is removed because no session
	// refers to it. Chosen: far longer than an upload takes.
	orphanAge = 24 * time.Hour

	// orphansEvery is the pause between two sweeps of orphaned audio.
	orphansEvery = time.Hour
)

// sweepOrphans removes audio that a process stored and could not hand over
// before it ended: at the start, every orphansEvery, and until the engine closes.
// Engines with workers do so.
func (e *Engine) sweepOrphans() {
	tick := time.NewTicker(orphansEvery)
	defer tick.Stop()
	for {
		if err := e.store.Audio().Sweep(e.ctx, orphanAge, nil); err != nil && e.ctx.Err() == nil {
			e.opts.Logger.Error("sweep audio", "error", err)
		}
		select {
		case <-e.closing:
			return
		case <-tick.C:
		}
	}
}
