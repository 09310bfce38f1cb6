package voicescreen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// SubmitOptions says what is asked of a recording. Nil and zero fields mean
// the default.
type SubmitOptions struct {
	Product screen.Product // default DepressionAnxiety

	// SampleRate, if not zero, is the only rate in Hz that is accepted.
	// Default: any from 8000 to 192000.
	SampleRate int

	// Channel is the channel to analyse, from 1 on, of a recording with several.
	// Default: the recording must be mono.
	Channel int

	// FixedGain says that all recordings are made with the same microphone at
	// the same gain and distance, so that how loud they are means something.
	// Only then does the level of the voice count.
	FixedGain bool

	// Baseline compares the recording with earlier ones of the same user: with
	// the features of the last five sessions of the account and user that have
	// their result by the time this one is analysed, of the twenty that were
	// initiated before it. Where one of those cannot be read, only what was
	// initiated since counts. screen.Score.Baseline says how many there were.
	// Recordings in another way of speaking are left out.
	Baseline bool

	// Speech is how the person speaks: free speech is what the scores are made
	// for, and people pause less in the description of a picture and when they
	// read. Submit reads it after the recording. Default: ScoringOptions.Speech;
	// if that is zero too, the three ways are weighed by the pauses, which widens
	// the intervals.
	Speech screen.Speech

	// AnyFormat accepts every format that package dsp/audiofile reads: also FLAC,
	// MP3, Opus in Ogg and WebM, and WAV of A-law, µ-law and IMA ADPCM. Default:
	// WAV of integer PCM or float only.
	AnyFormat bool
}

// Ack acknowledges a submission: the recording is durable and will be analysed.
type Ack struct {
	SessionID string
	Status    screen.Status // StatusProcessing
}

// Submit hands in the recording of a session, a WAV file or what
// SubmitOptions.AnyFormat accepts, and returns once it is durable and queued: it will be analysed, also after a crash. The recording
// is erased as soon as the session has its result.
//
// A session takes one recording. Of any number of submissions at the same time
// one succeeds, and the others are ErrConflict. After a submission that was
// refused the session takes another one. The error is
//   - ErrNotFound where the account has no such session,
//   - ErrConflict where it has a recording already,
//   - ErrInvalid for options out of range,
//   - ErrBusy where the queue is full; these four before audio is read,
//   - ErrUpload, with its cause, if reading audio fails,
//   - ErrTooLarge beyond AudioOptions.MaxBytes,
//   - ErrFull if the store has no room for it,
//   - ErrUnavailable if a server of the store does not answer,
//   - ErrAudio, with the fault, for a file in no accepted format, or one that is
//     broken, cut short or empty, or has another rate or channels than asked for.
//
// Submit reads audio to its end unless it fails, and does not close it.
func (a *flow) Submit(ctx context.Context, sessionID string, audio io.Reader, opts *SubmitOptions) (Ack, error) {
	e := a.engine
	ctx, leave, err := e.life.enter(ctx)
	if err != nil {
		return Ack{}, err
	}
	defer leave()
	status, err := a.status(ctx, sessionID)
	if err != nil {
		return Ack{}, err
	}
	if status != screen.StatusInitiated {
		return Ack{}, errSubmitted
	}
	o, err := opts.withDefaults()
	if err != nil {
		return Ack{}, err
	}
	others := e.uploads.Add(1) - 1
	defer e.uploads.Add(-1)
	if err := e.checkQueue(ctx, int(others)); err != nil {
		return Ack{}, err
	}
	got, err := e.receive(ctx, audio, &o)
	if err != nil {
		return Ack{}, err
	}
	if opts != nil {
		o.Speech = opts.Speech // the caller may have learned it beside the recording
	}
	if err := a.enqueue(ctx, sessionID, got, &o); err != nil {
		// No session refers to the audio. If it cannot be removed now, a later
		// sweep removes it.
		if rerr := e.store.Audio().Remove(context.WithoutCancel(ctx), got.ref); rerr != nil {
			e.opts.Logger.Warn("remove the audio of a refused submission", "error", rerr)
		}
		return Ack{}, err
	}
	e.worker.Wake()
	return Ack{SessionID: sessionID, Status: screen.StatusProcessing}, nil
}

var errSubmitted = fmt.Errorf("%w: the session has a recording already", ErrConflict)

// received is stored audio, as store.Session has it.
type received struct {
	ref      string
	channel  int
	duration float64 // s
}

// receive stores the audio.
func (e *Engine) receive(ctx context.Context, audio io.Reader, o *SubmitOptions) (received, error) {
	u, err := newUpload(ctx, audio, o, e.opts.Audio.MaxBytes, e.opts.Audio.MaxDuration)
	if err != nil {
		return received{}, err
	}
	ref, err := e.store.Audio().Put(ctx, u)
	if u.err != nil {
		return received{}, u.err
	}
	if err != nil && ctx.Err() != nil {
		return received{}, fmt.Errorf("%w: %w", ErrUpload, ctx.Err())
	}
	if err != nil {
		return received{}, internal("store the audio", err)
	}
	got := received{ref: ref, duration: u.seconds()}
	if u.format.Channels > 1 {
		got.channel = o.Channel
	}
	return got, nil
}

// enqueue moves the session from initiated to queued, with the audio, unless
// another submission did.
func (a *flow) enqueue(ctx context.Context, sessionID string, audio received, o *SubmitOptions) error {
	if err := checkSpeech(o.Speech); err != nil {
		return err
	}
	scoring := &a.engine.opts.Scoring
	_, err := a.engine.store.Update(ctx, a.name, sessionID, func(s *store.Session, now time.Time) error {
		if s.Status != screen.StatusInitiated {
			return errSubmitted
		}
		s.Status = screen.StatusProcessing
		s.Product = o.Product
		s.FixedGain = o.FixedGain || scoring.FixedGain
		s.Baseline = o.Baseline || scoring.Baseline
		s.Speech = cmp.Or(o.Speech, scoring.Speech)
		s.Audio = audio.ref
		s.Channel = audio.channel
		s.Duration = audio.duration
		s.SubmittedAt = now
		s.UpdatedAt = now
		s.Due = now
		return nil
	})
	if errors.Is(err, ErrConflict) {
		return err
	}
	return internal("queue a session", err)
}

// withDefaults returns a copy of o, which may be nil, without zero fields but
// those that mean any, or an InvalidError.
func (o *SubmitOptions) withDefaults() (SubmitOptions, error) {
	var c SubmitOptions
	if o != nil {
		c = *o
	}
	if c.Product == 0 {
		c.Product = screen.DepressionAnxiety
	}
	switch {
	case !c.Product.Valid():
		return c, malformed("product", fmt.Sprintf("there is no product %d", uint8(c.Product)))
	case c.SampleRate != 0 && (c.SampleRate < features.MinSampleRate || c.SampleRate > features.MaxSampleRate):
		return c, malformed("sample_rate", fmt.Sprintf("sample rate is %d Hz, want %d to %d", c.SampleRate, features.MinSampleRate, features.MaxSampleRate))
	case c.Channel < 0:
		return c, malformed("channel", fmt.Sprintf("channel is %d, want 1 or more", c.Channel))
	}
	return c, checkSpeech(c.Speech)
}

// checkFormat returns ErrAudio, with the fault, unless f is what o asks for.
func (o *SubmitOptions) checkFormat(f wav.Format) error {
	if o.SampleRate != 0 && f.SampleRate != o.SampleRate {
		return fmt.Errorf("%w: sample rate is %d Hz, want %d", ErrAudio, f.SampleRate, o.SampleRate)
	}
	if err := features.CheckFormat(f, o.Channel); err != nil {
		return fmt.Errorf("%w: %w", ErrAudio, err)
	}
	return nil
}
