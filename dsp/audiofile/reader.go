package audiofile

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"runtime"

	"github.com/voicescreen/voicescreen/dsp/wav"
)

// Format describes the samples of a file.
type Format struct {
	// Format has the rate and the number of channels. BitsPerSample and Encoding are
	// those of the file for WAV and FLAC, and those of the decoded samples for MP3
	// (16-bit PCM) and Opus (32-bit float).
	wav.Format

	Name  string // "WAV", "FLAC", "MP3", "Opus in Ogg" or "Opus in WebM"
	Lossy bool   // whether the encoding changed the samples
}

func (f Format) String() string { return f.Name + ", " + f.Format.String() }

// bufferSize is the number of bytes that are read at a time. Chosen: larger than two
// MP3 frames, which are compared to recognise the format.
const bufferSize = 8 << 10

// maxMagnitude is the largest magnitude of a valid sample, as in package wav.
const maxMagnitude = 1 << 31

// A decoder decodes what follows the header of a file.
type decoder interface {
	// next returns the samples of the next frame, interleaved, which may be none. They
	// are valid until the next call. At the end of the samples the error is io.EOF.
	next() ([]float64, error)

	// truncated reports whether the file ended too early. It is valid after next
	// has returned io.EOF.
	truncated() bool
}

// Reader reads the samples of a recording. Its memory does not depend on the length
// of the recording. It is not safe for concurrent use.
type Reader struct {
	format  Format
	source  *keeper
	wav     *wav.Reader // for WAV files, nil for others
	decoder decoder     // for others
	pending []float64   // of the last frame, not returned yet
	err     error
}

// NewReader finds the format of the file and reads its header. It returns a
// [FormatError] for a broken file, an [UnsupportedError] for a file that is not read,
// an error of package wav for a WAV file or for bytes of no known format, and any
// error of r except io.EOF, wrapped.
//
// The Reader reads ahead from r.
func NewReader(r io.Reader) (*Reader, error) {
	k := &keeper{r: r}
	b := bufio.NewReaderSize(k, bufferSize)
	out := &Reader{source: k}
	err := out.guard(func() error { return out.open(b) })
	if err == nil {
		return out, nil
	}
	if failure := k.failure(err); failure != nil && out.wav == nil && !isWAV(err) {
		return nil, failure
	}
	return nil, err
}

// isWAV reports whether err is one of package wav, which names failures of the reader
// itself.
func isWAV(err error) bool { return len(err.Error()) > 4 && err.Error()[:4] == "wav:" }

// open finds the format and makes its decoder.
func (r *Reader) open(b *bufio.Reader) error {
	kind, err := recognise(b)
	if err != nil {
		return err
	}
	switch kind {
	case kindFLAC:
		r.decoder, r.format, err = newFLAC(b)
	case kindMP3:
		r.decoder, r.format, err = newMP3(b)
	case kindOgg:
		r.decoder, r.format, err = newOgg(b)
	case kindWebM:
		r.decoder, r.format, err = newWebM(b)
	default:
		if r.wav, err = wav.NewAnyReader(b); err == nil {
			f := r.wav.Format()
			r.format = Format{Format: f, Name: "WAV", Lossy: f.Encoding != wav.PCM && f.Encoding != wav.Float}
		}
	}
	return err
}

// Format returns the format of the samples.
func (r *Reader) Format() Format { return r.format }

// Truncated reports whether the file ended too early: before the samples that its
// header announces, or within a frame. It is valid after [Reader.Read] has returned
// io.EOF.
func (r *Reader) Truncated() bool {
	if r.wav != nil {
		return r.wav.Truncated()
	}
	return r.decoder.truncated()
}

// Read fills dst with up to len(dst) samples, the channels interleaved, and returns
// their number. At the end it returns 0 and io.EOF. The number of samples of a file is
// a multiple of the number of channels. Samples are finite, and within ±2^31.
//
// The error is a [FormatError] for a broken file, an [UnsupportedError] where the
// format of the samples changes within the file, one of package wav, or the error of
// the underlying reader, wrapped. After an error every call returns that error.
func (r *Reader) Read(dst []float64) (int, error) {
	if r.wav != nil {
		return r.wav.Read(dst)
	}
	n := 0
	for n < len(dst) {
		if len(r.pending) == 0 && !r.fill() {
			break
		}
		m := copy(dst[n:], r.pending)
		r.pending = r.pending[m:]
		n += m
	}
	if n > 0 || len(dst) == 0 {
		return n, nil
	}
	return 0, r.err
}

// fill decodes until there are samples, and reports whether there are.
func (r *Reader) fill() bool {
	for r.err == nil && len(r.pending) == 0 {
		r.err = r.guard(func() (err error) {
			r.pending, err = r.decoder.next()
			return err
		})
		if r.err != nil {
			r.pending = nil
			if failure := r.source.failure(r.err); failure != nil {
				r.err = failure
			}
			return false
		}
		for _, v := range r.pending {
			if !(math.Abs(v) <= maxMagnitude) { // also true of NaN
				r.err, r.pending = fault(r.format.Name, "sample of %v", v), nil
				return false
			}
		}
	}
	return r.err == nil
}

// guard calls f. A panic of the runtime in the code of a decoder, such as an index out
// of range, becomes a FormatError: a broken file never panics.
func (r *Reader) guard(f func() error) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case runtime.Error:
			err = FormatError(fmt.Sprintf("the decoder failed: %v", v))
		default:
			panic(v)
		}
	}()
	return f()
}
