package voicescreen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/voicescreen/voicescreen/dsp/audiofile"
	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/features"
)

// maxHeader is how many bytes may precede the samples of an upload, as
// they are held in memory until the format is known. Chosen: hundreds of times
// what recorders write there.
const maxHeader = 256 << 10

// checkBlock is how many samples of an upload are checked at a time. Chosen:
// as many as make a Read of some KB.
const checkBlock = 4096

// maxGap is how many bytes may stand between two blocks of samples, as they are
// held in memory until the next block is decoded. Chosen: a large picture in
// a WebM file.
const maxGap = 1 << 20

// sampleReader is a wav.Reader or an audiofile.Reader.
type sampleReader interface {
	Read(dst []float64) (int, error)
	Truncated() bool
}

// upload reads a recording and checks it on the way: it fails where the file
// does, so that a broken one is never stored.
//
// The reader of the samples pulls the bytes out of src and decodes them; a copy of
// what it pulled waits in passed for Read.
type upload struct {
	ctx    context.Context
	src    io.Reader
	left   int64 // bytes that may still come
	passed []byte
	given  int // bytes at the beginning of passed that Read has returned

	decoder sampleReader
	wav     *wav.Reader // the same, if WAV of PCM is all that is accepted; nil otherwise
	isWAV   bool        // whether the file is a WAV file
	format  wav.Format  // of the samples
	most    int64       // samples of all channels after which those of other formats are not checked
	block   []float64   // nil for WAV of PCM
	samples int64
	tail    bool  // the samples are over, or enough; what follows is not checked
	err     error // what Read ended with, nil for io.EOF
}

// newUpload reads and checks the header of a file of at most limit bytes. The check
// of other formats than WAV ends after the length most, which is what is analysed: a
// few bytes can be decoded to hours of silence.
func newUpload(ctx context.Context, src io.Reader, o *SubmitOptions, limit int64, most time.Duration) (*upload, error) {
	u := &upload{ctx: ctx, src: src, left: limit}
	err := u.open(o.AnyFormat)
	if u.err != nil {
		return nil, u.err
	}
	if err != nil {
		return nil, audioError(err)
	}
	u.most = int64(most.Seconds()+1) * int64(u.format.SampleRate) * int64(u.format.Channels)
	return u, o.checkFormat(u.format)
}

// open reads the header.
func (u *upload) open(any bool) error {
	if any {
		r, err := audiofile.NewReader((*uploadSource)(u))
		if err == nil {
			u.decoder, u.format, u.isWAV = r, r.Format().Format, r.Format().Name == "WAV"
			u.block = make([]float64, checkBlock)
		}
		return err
	}
	r, err := wav.NewReader((*uploadSource)(u))
	if err == nil {
		u.decoder, u.wav, u.format, u.isWAV = r, r, r.Format(), true
	}
	return err
}

// Read returns the bytes of the file. Its error is ErrUpload, ErrTooLarge or
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

// check reads a block of samples, by which their bytes get into passed.
func (u *upload) check() {
	n, err := u.next()
	u.samples += int64(n)
	switch {
	case err == nil || u.err != nil:
	case err != io.EOF:
		u.err = audioError(err)
	case u.decoder.Truncated() && u.wav == nil:
		u.err = fmt.Errorf("%w: file is cut short after %.1f seconds", ErrAudio, u.seconds())
	case u.decoder.Truncated():
		announced, _ := u.wav.DataSize()
		received := u.samples * int64(u.format.BitsPerSample/8)
		u.err = fmt.Errorf("%w: file is cut short: %d bytes of samples announced, %d received", ErrAudio, announced, received)
	case u.samples == 0:
		u.err = fmt.Errorf("%w: file holds no samples", ErrAudio)
	default:
		u.tail = true
	}
	if u.err == nil && !u.isWAV && u.samples >= u.most {
		u.tail = true
	}
}

// next reads a block of samples and returns their number.
func (u *upload) next() (int, error) {
	if u.wav != nil {
		return u.wav.Discard(checkBlock)
	}
	return u.decoder.Read(u.block)
}

// seconds returns the length of the samples so far.
func (u *upload) seconds() float64 {
	return float64(u.samples/int64(u.format.Channels)) / float64(u.format.SampleRate)
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

// uploadSource is the upload as its decoder sees it.
type uploadSource upload

func (s *uploadSource) Read(p []byte) (int, error) {
	u := (*upload)(s)
	n, err := u.pull(p)
	u.passed = append(u.passed, p[:n]...)
	switch {
	case u.decoder == nil && len(u.passed) > maxHeader:
		u.err = fmt.Errorf("%w: no samples within the first %d bytes", ErrAudio, maxHeader)
		return 0, u.err
	case len(u.passed) > maxGap:
		u.err = fmt.Errorf("%w: no samples within %d bytes", ErrAudio, maxGap)
		return 0, u.err
	}
	return n, err
}

// audioError turns an error of reading a recording into ErrAudio or ErrUpload.
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
	var otherFormat audiofile.FormatError
	var otherUnsupported audiofile.UnsupportedError
	var channel *wav.ChannelError
	var unsuitable features.UnsuitableError
	return errors.Is(err, ErrAudio) || errors.As(err, &format) || errors.As(err, &unsupported) ||
		errors.As(err, &otherFormat) || errors.As(err, &otherUnsupported) || errors.As(err, &channel) || errors.As(err, &unsuitable)
}
