package voicescreen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// The sample rates that are analysed, in Hz. Below the first there is no
// second formant; above the second are no recordings of voices.
const (
	MinSampleRate = 8000
	MaxSampleRate = 192000
)

// Submit hands in the recording of a session, a WAV file, and returns once it
// is durable and queued: it will be analysed, also after a crash. The audio is
// erased as soon as the session has its result.
//
// A session takes one recording. Of any number of submissions at the same time
// one succeeds, and the others are ErrConflict. A submission that is refused
// does not use the session up. The error is
//   - ErrNotFound where the account has no such session,
//   - ErrConflict where it has a recording already,
//   - ErrInvalid for options that are none,
//   - ErrBusy where the queue is full; these four before audio is read,
//   - ErrUpload, with its cause, if reading audio fails,
//   - ErrTooLarge beyond AudioOptions.MaxBytes,
//   - ErrAudio, with the fault, for what is no WAV file, is broken, cut short or
//     empty, or has another rate or channels than asked for.
//
// Submit reads audio to its end unless it fails, and does not close it.
func (a *Account) Submit(ctx context.Context, sessionID string, audio io.Reader, opts *SubmitOptions) (Ack, error) {
	e := a.engine
	ctx, leave, err := e.enter(ctx)
	if err != nil {
		return Ack{}, err
	}
	defer leave()
	s, err := a.head(ctx, sessionID)
	if err != nil {
		return Ack{}, err
	}
	if s.Status != screen.StatusInitiated {
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
	ref, channel, err := e.receive(ctx, audio, &o)
	if err != nil {
		return Ack{}, err
	}
	if err := a.enqueue(ctx, sessionID, ref, channel, &o); err != nil {
		// No session refers to the audio. If it cannot be removed now, a later
		// sweep removes it.
		if rerr := e.store.Audio().Remove(context.WithoutCancel(ctx), ref); rerr != nil {
			e.opts.Logger.Warn("remove the audio of a refused submission", "error", rerr)
		}
		return Ack{}, err
	}
	e.wakeWorker()
	return Ack{SessionID: sessionID, Status: screen.StatusProcessing}, nil
}

var errSubmitted = fmt.Errorf("%w: the session has a recording already", ErrConflict)

// checkQueue returns ErrBusy if the queue holds as much as it may, counting
// submissions that are on their way.
func (e *Engine) checkQueue(ctx context.Context, coming int) error {
	due, err := e.store.Due(ctx)
	if err != nil {
		return e.internal("count the queue", err)
	}
	if due+coming >= e.opts.Queue.Limit {
		return ErrBusy
	}
	return nil
}

// receive stores the audio and returns its reference and the channel to
// analyse, as store.Session has it.
func (e *Engine) receive(ctx context.Context, audio io.Reader, o *SubmitOptions) (ref string, channel int, err error) {
	u, err := newUpload(ctx, audio, o, e.opts.Audio.MaxBytes)
	if err != nil {
		return "", 0, err
	}
	ref, err = e.store.Audio().Put(ctx, u)
	if u.err != nil {
		return "", 0, u.err
	}
	if err != nil && ctx.Err() != nil {
		return "", 0, fmt.Errorf("%w: %w", ErrUpload, ctx.Err())
	}
	if err != nil {
		return "", 0, e.internal("store the audio", err)
	}
	if u.wav.Format().Channels > 1 {
		channel = o.Channel
	}
	return ref, channel, nil
}

// enqueue moves the session from initiated to queued, with the audio, unless
// another submission did.
func (a *Account) enqueue(ctx context.Context, sessionID, ref string, channel int, o *SubmitOptions) error {
	_, err := a.engine.store.Update(ctx, a.name, sessionID, func(s *store.Session, now time.Time) error {
		if s.Status != screen.StatusInitiated {
			return errSubmitted
		}
		s.Status = screen.StatusProcessing
		s.Product = o.Product
		s.FixedGain = o.FixedGain || a.engine.opts.Scoring.FixedGain
		s.Baseline = o.Baseline || a.engine.opts.Scoring.Baseline
		s.Audio = ref
		s.Channel = channel
		s.SubmittedAt = now
		s.UpdatedAt = now
		s.Due = now
		return nil
	})
	if errors.Is(err, ErrConflict) {
		return err
	}
	return a.engine.internal("queue a session", err)
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
	case c.SampleRate != 0 && (c.SampleRate < MinSampleRate || c.SampleRate > MaxSampleRate):
		return c, malformed("sample_rate", fmt.Sprintf("sample rate is %d Hz, want %d to %d", c.SampleRate, MinSampleRate, MaxSampleRate))
	case c.Channel < 0:
		return c, malformed("channel", fmt.Sprintf("channel is %d, want 1 or more", c.Channel))
	}
	return c, nil
}

// checkFormat returns ErrAudio, with the fault, unless f is what o asks for.
func (o *SubmitOptions) checkFormat(f wav.Format) error {
	switch {
	case o.SampleRate != 0 && f.SampleRate != o.SampleRate:
		return fmt.Errorf("%w: sample rate is %d Hz, want %d", ErrAudio, f.SampleRate, o.SampleRate)
	case f.SampleRate < MinSampleRate || f.SampleRate > MaxSampleRate:
		return fmt.Errorf("%w: sample rate is %d Hz, want %d to %d", ErrAudio, f.SampleRate, MinSampleRate, MaxSampleRate)
	case o.Channel == 0 && f.Channels != 1:
		return fmt.Errorf("%w: recording has %d channels, want 1", ErrAudio, f.Channels)
	case o.Channel > f.Channels:
		return fmt.Errorf("%w: channel %d of a recording with %d", ErrAudio, o.Channel, f.Channels)
	}
	return nil
}

// maxHeader is how many bytes may come before the samples of an upload, as
// they are held in memory until the format is known. Chosen: hundreds of times
// what recorders write there.
const maxHeader = 256 << 10

// checkBlock is how many samples of an upload are checked at a time. Chosen:
// as many as make a Read of some KB.
const checkBlock = 4096

// upload passes a WAV file on byte by byte as it comes, and checks it on the
// way: it fails where the file does, so that a bad one is never stored.
//
// The wav.Reader pulls the bytes out of src and decodes them; a copy of what
// it pulled waits in passed for Read to give away.
type upload struct {
	ctx    context.Context
	src    io.Reader
	left   int64 // bytes that may still come
	passed []byte
	given  int // bytes at the beginning of passed that Read gave away

	wav     *wav.Reader
	block   []float64
	samples int64
	tail    bool  // the samples are over; what follows is passed on unseen
	err     error // what Read ended with, nil for io.EOF
}

// newUpload reads and checks the header.
func newUpload(ctx context.Context, src io.Reader, o *SubmitOptions, limit int64) (*upload, error) {
	u := &upload{ctx: ctx, src: src, left: limit, block: make([]float64, checkBlock)}
	var err error
	u.wav, err = wav.NewReader((*uploadSource)(u))
	if u.err != nil {
		return nil, u.err
	}
	if err != nil {
		return nil, audioError(err)
	}
	return u, o.checkFormat(u.wav.Format())
}

// Read gives the bytes of the file. Its error is ErrUpload, ErrTooLarge or
// ErrAudio, and stays in u.err.
func (u *upload) Read(p []byte) (int, error) {
	for u.given == len(u.passed) && !u.tail && u.err == nil {
		u.passed, u.given = u.passed[:0], 0
		u.check()
	}
	if u.given < len(u.passed) {
		n := copy(p, u.passed[u.given:])
		u.given += n
		return n, nil
	}
	if u.err != nil {
		return 0, u.err
	}
	return u.pull(p)
}

// check decodes a block of samples, by which their bytes get into passed.
func (u *upload) check() {
	n, err := u.wav.Read(u.block)
	u.samples += int64(n)
	switch {
	case err == nil || u.err != nil:
	case err != io.EOF:
		u.err = audioError(err)
	case u.wav.Truncated():
		announced, _ := u.wav.DataSize()
		f := u.wav.Format()
		received := u.samples * int64(f.BitsPerSample/8)
		u.err = fmt.Errorf("%w: file is cut short: %d bytes of samples announced, %d received", ErrAudio, announced, received)
	case u.samples == 0:
		u.err = fmt.Errorf("%w: file holds no samples", ErrAudio)
	default:
		u.tail = true
	}
}

// pull reads from the source, within the limit. Its errors are io.EOF, and
// ErrTooLarge and ErrUpload, which stay in u.err.
func (u *upload) pull(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		u.err = fmt.Errorf("%w: %w", ErrUpload, err)
		return 0, u.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := u.src.Read(p[:min(int64(len(p)), u.left+1)])
	u.left -= int64(n)
	switch {
	case u.left < 0 || errors.Is(err, ErrTooLarge):
		u.err = ErrTooLarge
	case err != nil && err != io.EOF:
		u.err = fmt.Errorf("%w: %w", ErrUpload, err)
	default:
		return n, err
	}
	return 0, u.err
}

// uploadSource is the upload as its wav.Reader sees it.
type uploadSource upload

func (s *uploadSource) Read(p []byte) (int, error) {
	u := (*upload)(s)
	n, err := u.pull(p)
	u.passed = append(u.passed, p[:n]...)
	if u.wav == nil && len(u.passed) > maxHeader {
		u.err = fmt.Errorf("%w: no samples within the first %d bytes", ErrAudio, maxHeader)
		return 0, u.err
	}
	return n, err
}

// audioError turns what was met while a recording was read into an error of
// this package.
func audioError(err error) error {
	switch {
	case errors.Is(err, ErrAudio):
		return err
	case isAudioFault(err):
		return fmt.Errorf("%w: %w", ErrAudio, err)
	}
	return fmt.Errorf("%w: %w", ErrUpload, err)
}

// isAudioFault says whether err is about the recording rather than about what
// it was read from.
func isAudioFault(err error) bool {
	var format wav.FormatError
	var unsupported wav.UnsupportedError
	var channel *wav.ChannelError
	return errors.Is(err, ErrAudio) || errors.As(err, &format) || errors.As(err, &unsupported) || errors.As(err, &channel)
}
