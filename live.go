package voicescreen

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
)

// Live is a recording that is analysed while it is made: it takes samples as they come,
// says what it hears, and gives at the end the analysis of the whole, the same that
// Analyze gives of a file with these samples, bit for bit. It starts no goroutine, and
// one that is given up needs no Close. It is safe for concurrent use: one goroutine may
// write while others ask for the status.
//
// Its memory is that of the samples, 2 bytes each where they are of 16 bits, 4 where they are of float32 and 8 otherwise, up to
// AudioOptions.MaxDuration, and 1 MB and 0.12 MB a minute.
type Live struct {
	engine *Engine
	opts   AnalyzeOptions

	mu       sync.Mutex // protects the rest
	recorder *features.Recorder
	meter    *dsp.Meter
	partial  bool
	last     LiveStatus // once meter is nil
	state    liveState
}

// liveState is what a Live is open to.
type liveState uint8

const (
	liveOpen   liveState = iota + 1 // to everything
	liveEnded                       // to Finish, and to Close
	liveBusy                        // Finish is under way
	liveClosed                      // to Status
)

// LiveOptions say what is known about a recording that is analysed while it is made. Zero
// fields mean the default.
type LiveOptions struct {
	// SampleRate of the samples in Hz, from 8000 to 192000. It must be given.
	SampleRate int

	// Lossy says that the samples were encoded with loss before, as those of a
	// telephone and of Opus are.
	Lossy bool

	// AnalyzeOptions are as for Analyze. Channel is not read.
	AnalyzeOptions
}

// LiveStatus is what is known of a recording while it is made: at most 0.1 s of audio
// behind the latest Write, and the levels of voice and noise at most 0.15 s.
type LiveStatus struct {
	// Reading has the seconds so far and those of speech, level, clipping, noise and
	// pitch, with their units. Speech differs a little from the final
	// Analysis.SpeechSeconds: see dsp.Meter.
	dsp.Reading

	// Missing is the time in s of speech that is missing for a score of the category,
	// and 0 if there is enough: "20 more seconds of speech". Ask for a second more,
	// because the final count differs.
	Missing map[screen.Category]float64

	// Partial reports whether the recording is longer than AudioOptions.MaxDuration.
	// The samples beyond are dropped.
	Partial bool
}

// Live begins a recording that is analysed while it is made. The error is an InvalidError
// for options out of range, or ErrClosed.
//
//	live, err := e.Live(voicescreen.LiveOptions{SampleRate: 16000})
//	for block := range microphone {
//		err := live.Write(block)
//		show(live.Status())
//	}
//	analysis, err := live.Finish(ctx)
func (e *Engine) Live(opts LiveOptions) (*Live, error) {
	if closed(e.life.stop) {
		return nil, ErrClosed
	}
	if err := checkSpeech(opts.Speech); err != nil {
		return nil, err
	}
	recorder, err := features.NewRecorder(opts.SampleRate, e.opts.Audio.MaxDuration, opts.Lossy)
	if err != nil {
		return nil, malformed("sample_rate", err.Error())
	}
	return &Live{engine: e, opts: opts.AnalyzeOptions, recorder: recorder, meter: dsp.NewMeter(opts.SampleRate), state: liveOpen}, nil
}

// errLiveOver is the error of a call that comes too late.
var errLiveOver = fmt.Errorf("%w: the live recording is over", ErrConflict)

// Write takes the next samples, mono and nominally in [-1, 1), any number of them. x is
// neither changed nor kept. Samples beyond AudioOptions.MaxDuration are dropped without an
// error; see LiveStatus.Partial. The error is ErrConflict after Finish and Close, or
// ErrClosed after Engine.Close.
func (l *Live) Write(x []float64) error {
	if closed(l.engine.life.stop) {
		return ErrClosed
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state != liveOpen {
		return errLiveOver
	}
	n := l.recorder.Write(x)
	l.partial = l.partial || n < len(x)
	l.meter.Add(x[:n])
	return nil
}

// Status returns what is known by now; after Finish or Close, what was known then. It
// counts the speech since the latest pauses, in about 0.03 ms; all speech is counted again,
// in a few ms, where a louder voice or more noise moves the thresholds.
func (l *Live) Status() LiveStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status()
}

func (l *Live) status() LiveStatus {
	if l.meter == nil {
		s := l.last
		s.Missing = maps.Clone(s.Missing)
		return s
	}
	s := LiveStatus{Reading: l.meter.Reading(), Partial: l.partial, Missing: map[screen.Category]float64{}}
	for _, c := range screen.Categories() {
		s.Missing[c] = l.engine.opts.Audio.Limits.Missing(c, s.Speech)
	}
	return s
}

// Finish ends the recording and analyses it as Analyze does. It may be called again after
// it failed with ctx's error. The error is ErrAudio for a recording without samples,
// ErrConflict after a Finish that succeeded, during another one and after Close, ctx's
// error, ErrClosed, or internal. A recording that is too short or too poor for a score is
// no error: see Analysis.Failures.
func (l *Live) Finish(ctx context.Context) (*Analysis, error) {
	l.mu.Lock()
	if l.state != liveOpen && l.state != liveEnded {
		l.mu.Unlock()
		return nil, errLiveOver
	}
	l.end()
	l.state = liveBusy
	recorder := l.recorder
	l.mu.Unlock()

	out, err := l.engine.analyze(ctx, &l.opts, func(ctx context.Context) (*features.Source, error) { return recorder.Source(ctx) })

	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.recorder == nil: // closed meanwhile
	case err != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		l.state = liveEnded
	default:
		l.state, l.recorder = liveClosed, nil
	}
	return out, err
}

// Close ends the recording without an analysis and lets its samples go. A Finish under way
// goes on. Further calls do nothing. The error is nil.
func (l *Live) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end()
	l.state, l.recorder = liveClosed, nil
	return nil
}

// end keeps the last status.
func (l *Live) end() {
	if l.meter != nil {
		l.last = l.status()
		l.meter = nil
	}
}
