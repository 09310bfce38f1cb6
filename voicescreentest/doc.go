// Package voicescreentest has what the tests of a program need that embeds
// voicescreen: a recording that every limit of the engine accepts, a scorer whose
// scores are known, and a clock that the test sets. It is for tests.
//
//	clock := voicescreentest.NewClock()
//	st := memory.New(&memory.Options{Now: clock.Now})
//	engine, err := voicescreen.New(st, &voicescreen.Options{
//		Store:   bolt.Options{Now: clock.Now},
//		Scoring: voicescreen.ScoringOptions{Models: []models.Scorer{voicescreentest.NewScorer()}},
//	})
//	…
//	ack, err := engine.Submit(ctx, session, bytes.NewReader(voicescreentest.Recording()), nil)
//	result, err := engine.Wait(ctx, session)
package voicescreentest
