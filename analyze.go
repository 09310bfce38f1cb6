package voicescreen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// Analysis is what Engine.Analyze finds in a recording. It is the caller's.
type Analysis struct {
	Duration      float64     // seconds that were analysed
	SpeechSeconds float64     // of them, in stretches of speech
	SampleRate    int         // Hz, of the file
	Truncated     bool        // the file ends before what its header announces
	Partial       bool        // the recording goes on beyond AudioOptions.MaxDuration
	Quality       dsp.Quality // of the recording

	Features features.Vector // of schema voice/1; NaN where undefined

	// Scores has one for each category that the recording is good enough for,
	// in the order depression, anxiety, deepfake.
	Scores []screen.Score

	// Failures says of each other category why it has no score.
	Failures map[screen.Category]*screen.Failure
}

// allCategories is what Analyze scores.
var allCategories = []screen.Category{screen.Depression, screen.Anxiety, screen.Deepfake}

// AnalyzeOptions says what is known about a recording that is analysed without
// a session. Nil and zero fields mean the default.
type AnalyzeOptions struct {
	// Channel is the channel of the file that Analyze analyses, from 1 on.
	// Default: the file must be mono. AnalyzeChannel does not read it.
	Channel int

	Metadata screen.Metadata // of the speaker; default: nothing is known

	// FixedGain is as in SubmitOptions. Default: ScoringOptions.FixedGain.
	FixedGain bool

	// Earlier are the features of earlier recordings of the same speaker, as
	// Analysis.Features has them, with which this one is compared. Default:
	// none.
	Earlier []features.Vector
}

// Analyze reads a WAV file at 8 to 192 kHz and scores one channel of it in every
// category. There is no session, and nothing is stored. The analysis is the
// same as after Submit, except that a truncated file is analysed as far as it
// goes.
//
// Analyze waits while as many analyses as the engine has workers are under way,
// and counts as one of them while it reads: a slow r delays other analyses,
// those of sessions too. features.ReadChannel followed by AnalyzeChannel avoids
// this.
//
// The error is ErrAudio for an r that is no such file or is empty, ErrUpload if
// r fails, ctx's error, or internal. A recording that is too short or too poor
// for a score is no error: see Analysis.Failures.
func (e *Engine) Analyze(ctx context.Context, r io.Reader, opts *AnalyzeOptions) (*Analysis, error) {
	o := opts.orDefault()
	return e.analyze(ctx, o, func(ctx context.Context) (*features.Channel, error) {
		return features.ReadChannel(ctx, r, o.Channel, e.opts.Audio.MaxDuration)
	})
}

// AnalyzeChannel is Analyze for samples in memory, as features.ReadChannel and
// features.FromBuffer return them. The samples are neither changed nor kept.
func (e *Engine) AnalyzeChannel(ctx context.Context, c *features.Channel, opts *AnalyzeOptions) (*Analysis, error) {
	return e.analyze(ctx, opts.orDefault(), func(context.Context) (*features.Channel, error) {
		return c.Limit(e.opts.Audio.MaxDuration)
	})
}

func (o *AnalyzeOptions) orDefault() *AnalyzeOptions {
	if o == nil {
		return &AnalyzeOptions{}
	}
	return o
}

func (e *Engine) analyze(ctx context.Context, o *AnalyzeOptions, read func(context.Context) (*features.Channel, error)) (_ *Analysis, err error) {
	ctx, leave, err := e.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	m, err := e.takeMeasurer(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if v := recover(); v != nil {
			m, err = nil, panicError(v) // its scratch may be in any state
		}
		e.measurers <- m
	}()

	rec, err := read(ctx)
	if err != nil {
		return nil, audioError(err)
	}
	in := m.Measure(rec)
	in.Metadata, in.Earlier = o.Metadata, o.Earlier
	in.FixedGain = o.FixedGain || e.opts.Scoring.FixedGain
	out := &Analysis{
		Duration:      in.Analysis.Duration,
		SpeechSeconds: in.Analysis.SpeechDuration(),
		SampleRate:    rec.Rate,
		Truncated:     rec.Truncated,
		Partial:       rec.Partial,
		Quality:       in.Analysis.Quality,
		Features:      in.Features,
		Failures:      map[screen.Category]*screen.Failure{},
	}
	var good []screen.Category
	for _, c := range allCategories {
		if f := e.opts.Audio.Limits.Refuse(c, in.Analysis); f != nil {
			out.Failures[c] = f
		} else {
			good = append(good, c)
		}
	}
	out.Scores, err = e.score(ctx, "", in, good)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// outcome is what came of the analysis of a session: scores and features, or a
// failure.
type outcome struct {
	scores   []screen.Score
	features map[string]float64
	failure  *screen.Failure
}

// analyzeSession analyses the stored recording of s. An error means that it
// may be tried again.
func (e *Engine) analyzeSession(ctx context.Context, s *store.Session) (out outcome, err error) {
	m, err := e.takeMeasurer(ctx)
	if err != nil {
		return out, err
	}
	defer func() {
		if v := recover(); v != nil {
			e.measurers <- nil // its scratch may be in any state
			panic(v)
		}
		e.measurers <- m
	}()

	rec, err := e.openRecording(ctx, s)
	if err == nil && rec.Truncated { // it was whole when it was accepted: the disk lost a part
		err = fmt.Errorf("%w: file is cut short", ErrAudio)
	}
	if err != nil && isAudioFault(err) {
		out.failure = decodeFailure(err)
		return out, nil
	}
	if err != nil {
		return out, err
	}
	categories := s.Product.Categories()
	for _, c := range categories { // before the work, which a short one is not worth
		if out.failure = e.opts.Audio.Limits.RefuseLength(c, rec.Seconds()); out.failure != nil {
			return out, nil
		}
	}
	in := m.Measure(rec)
	in.Metadata, in.FixedGain = s.Metadata, s.FixedGain
	if s.Baseline {
		in.Earlier, err = e.earlier(ctx, s)
		switch {
		case errors.Is(err, store.ErrDamaged): // what is lost to this one is so to all
			e.opts.Logger.Error("compare without sessions that cannot be read", "session", s.ID, "earlier", len(in.Earlier), "error", err)
		case err != nil:
			return out, err
		}
	}
	for _, c := range categories {
		if out.failure = e.opts.Audio.Limits.Refuse(c, in.Analysis); out.failure != nil {
			return out, nil
		}
	}
	if out.scores, err = e.score(ctx, s.Account, in, categories); err != nil {
		return outcome{}, err
	}
	out.features = in.Features.Map()
	return out, nil
}

func internalFailure() *screen.Failure {
	return &screen.Failure{Code: screen.CodeInternal, Message: "The analysis failed; please submit the recording in a new session"}
}

func decodeFailure(err error) *screen.Failure {
	return &screen.Failure{Code: screen.CodeAudioDecode, Message: "Audio file could not be decoded: " + err.Error()}
}

func (e *Engine) openRecording(ctx context.Context, s *store.Session) (*features.Channel, error) {
	f, err := e.store.Audio().Open(ctx, s.Audio)
	if err != nil {
		return nil, fmt.Errorf("voicescreen: open the audio: %w", err)
	}
	defer f.Close()
	return features.ReadChannel(ctx, f, s.Channel, e.opts.Audio.MaxDuration)
}

// measurerCount is how many analyses may be under way at once: as many as there
// are workers, so that they bound the memory, or as processors where there are
// none.
func measurerCount(workers int) int {
	if workers > 0 {
		return workers
	}
	return runtime.GOMAXPROCS(0)
}

// takeMeasurer waits for a Measurer to be free. It goes back into e.measurers, or nil
// in its place.
func (e *Engine) takeMeasurer(ctx context.Context) (*features.Measurer, error) {
	select {
	case m := <-e.measurers:
		if m == nil {
			m = features.NewMeasurer()
		}
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
