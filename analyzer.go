package voicescreen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// analyzer measures and scores recordings: files for Engine.Analyze, and those
// of sessions for the worker. It is safe for concurrent use.
type analyzer struct {
	store     store.Store
	audio     AudioOptions
	scoring   ScoringOptions
	log       *slog.Logger
	measurers chan *features.Measurer // one for each analysis at a time; nil entries are made on first use
	scorers   func() *scorers         // those in use now

	thresholds *thresholds
}

// newAnalyzer returns an analyzer for as many analyses at a time as there are
// workers, which bounds the memory, or processors where there are no workers.
func newAnalyzer(st store.Store, o *Options, scorers func() *scorers, thresholds *thresholds) *analyzer {
	n := o.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return &analyzer{
		store: st, audio: o.Audio, scoring: o.Scoring, log: o.Logger,
		measurers: newMeasurers(make([]*features.Measurer, n)...), scorers: scorers, thresholds: thresholds,
	}
}

func newMeasurers(ms ...*features.Measurer) chan *features.Measurer {
	c := make(chan *features.Measurer, len(ms))
	for _, m := range ms {
		c <- m
	}
	return c
}

// measure calls work once a Measurer is free. The Measurer is work's until it
// returns.
func (a *analyzer) measure(ctx context.Context, work func(m *features.Measurer) error) error {
	var m *features.Measurer
	select {
	case m = <-a.measurers:
	case <-ctx.Done():
		return ctx.Err()
	}
	if m == nil {
		m = features.NewMeasurer()
	}
	whole := false
	defer func() {
		if !whole { // a panic: its scratch may be in any state
			m = nil
		}
		a.measurers <- m
	}()
	err := work(m)
	whole = true
	return err
}

// outcome is what the analysis of a session found: scores and features, or a
// failure.
type outcome struct {
	scores   []screen.Score
	features map[string]float64
	failure  *screen.Failure
	analysed float64 // how much of the recording was read, in s
}

// session analyses the stored recording of s. After an error it may be tried
// again.
func (a *analyzer) session(ctx context.Context, s *store.Session) (out outcome, err error) {
	err = a.measure(ctx, func(m *features.Measurer) (err error) {
		out, err = a.sessionWith(ctx, m, s)
		return err
	})
	return out, err
}

func (a *analyzer) sessionWith(ctx context.Context, m *features.Measurer, s *store.Session) (out outcome, err error) {
	rec, err := a.recording(ctx, s)
	if err == nil {
		defer rec.Close()    // was only read
		if rec.Truncated() { // it was whole when it was accepted: the disk lost a part
			err = fmt.Errorf("%w: file is cut short", ErrAudio)
		}
	}
	if err != nil && isAudioFault(err) {
		return outcome{failure: decodeFailure(err)}, nil
	}
	if err != nil {
		return out, err
	}
	categories := s.Product.Categories()
	for _, c := range categories { // before the measures, which take much longer
		if f := a.audio.Limits.RefuseLength(c, rec.Seconds()); f != nil {
			return outcome{failure: f, analysed: rec.Seconds()}, nil
		}
	}
	scorers := a.scorers()
	in, err := scorers.measure(m, rec)
	if err != nil {
		return out, fmt.Errorf("voicescreen: read the audio again: %w", err)
	}
	in.Metadata, in.FixedGain, in.Speech = s.Metadata, s.FixedGain, s.Speech
	if s.Baseline {
		in.Earlier, err = earlier(ctx, a.store, s)
		switch {
		case errors.Is(err, store.ErrDamaged): // it stays damaged: another attempt would not help
			a.log.Error("compare without sessions that cannot be read", "session", s.ID, "earlier", len(in.Earlier), "error", err)
		case err != nil:
			return out, err
		}
	}
	for _, c := range categories {
		if f := a.audio.Limits.Refuse(c, in.Analysis); f != nil {
			return outcome{failure: f, analysed: rec.Seconds()}, nil
		}
	}
	out.scores, err = scorers.score(ctx, in, categories, a.decide(s.Account))
	if err != nil {
		return outcome{}, err
	}
	out.features, out.analysed = in.Features.Map(), rec.Seconds()
	return out, nil
}

// recording opens the stored recording of s. The caller closes it. An error that says
// neither that the recording is lost nor that it is damaged says nothing about it, as one of
// a directory that is not mounted, of too many open files or of wrong credentials: it is
// store.ErrUnavailable.
func (a *analyzer) recording(ctx context.Context, s *store.Session) (*features.Source, error) {
	open := func() (io.ReadCloser, error) {
		f, err := a.store.Audio().Open(ctx, s.Audio)
		switch {
		case err == nil:
			return f, nil
		case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrDamaged):
			return nil, fmt.Errorf("voicescreen: open the audio: %w", err)
		}
		return nil, fmt.Errorf("voicescreen: open the audio: %w: %w", store.ErrUnavailable, err)
	}
	return features.OpenSource(ctx, open, s.Channel, a.audio.MaxDuration)
}

// decide returns what turns the probability of a score into a decision of the
// account.
func (a *analyzer) decide(account string) func(*screen.Score) {
	return func(s *screen.Score) {
		if s.Category == screen.Deepfake {
			s.SetPrior(a.scoring.DeepfakePrior)
		}
		a.thresholds.get().Apply(account, s)
	}
}

func internalFailure() *screen.Failure {
	return &screen.Failure{Code: screen.CodeInternal, Message: "The analysis failed; please submit the recording in a new session"}
}

func decodeFailure(err error) *screen.Failure {
	return &screen.Failure{Code: screen.CodeAudioDecode, Message: "Audio file could not be decoded: " + err.Error()}
}

// panicError describes a panic. It uses the text of the runtime's own panics
// only: another value may hold anything, a sample or a name.
func panicError(v any) error {
	if err, ok := v.(runtime.Error); ok {
		return fmt.Errorf("voicescreen: panic: %w", err)
	}
	return fmt.Errorf("voicescreen: panic with a value of type %T", v)
}
