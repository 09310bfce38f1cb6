package voicescreen

import (
	"cmp"
	"context"
	"io"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
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

// AnalyzeOptions says what is known about a recording that is analysed without
// a session. Nil and zero fields mean the default.
type AnalyzeOptions struct {
	// Channel is the channel of the file that Analyze analyses, from 1 on.
	// Default: the file must be mono. AnalyzeChannel does not read it.
	Channel int

	Metadata screen.Metadata // of the speaker; default: nothing is known

	// FixedGain is as in SubmitOptions. Default: ScoringOptions.FixedGain.
	FixedGain bool

	// Speech is as in SubmitOptions. Default: ScoringOptions.Speech.
	Speech screen.Speech

	// Earlier are the features of earlier recordings of the same speaker, as
	// Analysis.Features has them, with which this one is compared. Default:
	// none.
	Earlier []features.Vector
}

// Analyze reads a recording at 8 to 192 kHz, in any format that package
// dsp/audiofile reads, and scores one channel of it in every category. There is no session, and nothing is stored. The analysis is the
// same as after Submit, except that a truncated file is analysed as far as it
// goes.
//
// An r that is an io.Seeker is read five times, unless it is short; of any other the
// samples of the channel are kept in memory, 2 bytes each for 16 bits.
//
// Analyze waits while as many analyses as the engine has workers are under way,
// and counts as one of them while it reads: a slow r delays other analyses,
// those of sessions too. features.ReadSource followed by AnalyzeSource avoids
// this.
//
// The error is ErrAudio for an r that is no such file or is empty, ErrUpload if
// r fails, ctx's error, or internal. A recording that is too short or too poor
// for a score is no error: see Analysis.Failures.
func (e *Engine) Analyze(ctx context.Context, r io.Reader, opts *AnalyzeOptions) (*Analysis, error) {
	o := opts.orDefault()
	return e.analyze(ctx, o, func(ctx context.Context) (*features.Source, error) {
		return features.ReadSource(ctx, r, o.Channel, e.opts.Audio.MaxDuration)
	})
}

// AnalyzeSource is Analyze for a recording that is read in blocks. All of it is
// analysed: AudioOptions.MaxDuration does not count. The caller closes src.
func (e *Engine) AnalyzeSource(ctx context.Context, src *features.Source, opts *AnalyzeOptions) (*Analysis, error) {
	return e.analyze(ctx, opts.orDefault(), func(context.Context) (*features.Source, error) { return src, nil })
}

// AnalyzeChannel is Analyze for samples in memory, as features.ReadChannel and
// features.FromBuffer return them. The samples are neither changed nor kept.
func (e *Engine) AnalyzeChannel(ctx context.Context, c *features.Channel, opts *AnalyzeOptions) (*Analysis, error) {
	return e.analyze(ctx, opts.orDefault(), func(context.Context) (*features.Source, error) {
		return features.NewSource(c, e.opts.Audio.MaxDuration)
	})
}

func (o *AnalyzeOptions) orDefault() *AnalyzeOptions {
	if o == nil {
		return &AnalyzeOptions{}
	}
	return o
}

func (e *Engine) analyze(ctx context.Context, o *AnalyzeOptions, read func(context.Context) (*features.Source, error)) (out *Analysis, err error) {
	ctx, leave, err := e.life.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := checkSpeech(o.Speech); err != nil {
		return nil, err
	}
	defer func() {
		if v := recover(); v != nil {
			out, err = nil, panicError(v)
		}
	}()
	err = e.analyzer.measure(ctx, func(m *features.Measurer) error {
		src, err := read(ctx)
		if err != nil {
			return audioError(err)
		}
		defer src.Within(ctx)()
		scorers := e.analyzer.scorers()
		in, err := scorers.measure(m, src)
		if err != nil {
			return audioError(err)
		}
		in.Metadata, in.Earlier = o.Metadata, o.Earlier
		in.FixedGain = o.FixedGain || e.opts.Scoring.FixedGain
		in.Speech = cmp.Or(o.Speech, e.opts.Scoring.Speech)
		out, err = e.analyzer.file(ctx, src, in, scorers)
		return err
	})
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// file scores a recording that was measured in every category that it is good
// enough for.
func (a *analyzer) file(ctx context.Context, src *features.Source, in *features.Recording, scorers *scorers) (*Analysis, error) {
	out := &Analysis{
		Duration:      in.Analysis.Duration,
		SpeechSeconds: in.Analysis.SpeechDuration(),
		SampleRate:    src.Rate(),
		Truncated:     src.Truncated(),
		Partial:       src.Partial(),
		Quality:       in.Analysis.Quality,
		Features:      in.Features,
		Failures:      map[screen.Category]*screen.Failure{},
	}
	var good []screen.Category
	for _, c := range screen.Categories() {
		if f := a.audio.Limits.Refuse(c, in.Analysis); f != nil {
			out.Failures[c] = f
		} else {
			good = append(good, c)
		}
	}
	var err error
	out.Scores, err = scorers.score(ctx, in, good, a.decide(""))
	return out, err
}
