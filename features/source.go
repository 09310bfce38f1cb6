package features

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/audiofile"
)

// A Source is one channel of a recording that is read in blocks, as often as needed: it
// implements [dsp.Samples]. Its memory does not grow with the recording: up to 4 MB of
// samples are kept, and a longer recording is opened again each time. It is not safe for
// concurrent use.
type Source struct {
	ctx    context.Context
	within context.Context // of the present analysis, nil for none
	open   func() (io.ReadCloser, error)
	number int
	most   time.Duration

	rate      int
	truncated bool
	partial   bool
	lossy     bool
	survey    dsp.Survey

	file  io.ReadCloser // nil if the samples are kept
	ar    *audiofile.Reader
	block []float64 // of all channels
	step  int       // channels
	rest  []float64 // of block
	left  int       // samples up to the limit
	kept  held
	next  int       // sample of kept that is read next
	clean []float64 // scratch of Read
}

// OpenSource reads one channel of a recording at 8 to 192 kHz once, to its end or its
// limit, as [ReadChannel] does, and returns what reads it again. Open opens the file at
// its beginning each time. The caller closes the Source.
//
// The error is that of ReadChannel or of open. Reads later fail with ctx's error, too.
func OpenSource(ctx context.Context, open func() (io.ReadCloser, error), number int, most time.Duration) (*Source, error) {
	if most <= 0 {
		most = MaxDuration
	}
	s := &Source{ctx: ctx, open: open, number: number, most: most}
	if err := s.reopen(); err != nil {
		return nil, err
	}
	if err := s.scan(heldBytes); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// ReadSource is [OpenSource] of an r that is read only once: all samples of the channel
// are kept, in as few bytes as give the same values: 2 for 16 bits. If r is an io.Seeker
// it is read again instead, until the Source is closed.
func ReadSource(ctx context.Context, r io.Reader, number int, most time.Duration) (*Source, error) {
	if seeker, ok := r.(io.Seeker); ok {
		if start, err := seeker.Seek(0, io.SeekCurrent); err == nil { // a pipe is an *os.File too
			return OpenSource(ctx, func() (io.ReadCloser, error) {
				_, err := seeker.Seek(start, io.SeekStart)
				return io.NopCloser(r), err
			}, number, most)
		}
	}
	if most <= 0 {
		most = MaxDuration
	}
	s := &Source{ctx: ctx, number: number, most: most}
	s.open = func() (io.ReadCloser, error) { return io.NopCloser(r), nil }
	if err := s.reopen(); err != nil {
		return nil, err
	}
	if err := s.scan(allBytes); err != nil {
		return nil, err
	}
	return s, nil
}

// NewSource returns the samples of c, up to the length most, as a Source. They are not
// copied. The error is an UnsuitableError where the rate of c is not from 8 to 192 kHz.
func NewSource(c *Channel, most time.Duration) (*Source, error) {
	c, err := c.Limit(most)
	if err != nil {
		return nil, err
	}
	s := &Source{ctx: context.Background(), rate: c.Rate, truncated: c.Truncated, partial: c.Partial, lossy: c.Lossy, kept: held{all: c.Samples}}
	s.block = make([]float64, readBlock)
	s.survey, err = dsp.SurveySamples(s, s.block)
	return s, err
}

// Rate is the sample rate in Hz.
func (s *Source) Rate() int { return s.rate }

// Len is the number of samples.
func (s *Source) Len() int { return s.survey.Len() }

// Seconds is the length of the part that is analysed.
func (s *Source) Seconds() float64 { return float64(s.Len()) / float64(s.rate) }

// Truncated reports whether the file ends before what its header announces.
func (s *Source) Truncated() bool { return s.truncated }

// Partial reports whether the recording goes on beyond the part that is analysed.
func (s *Source) Partial() bool { return s.partial }

// Lossy reports whether the recording was encoded with loss.
func (s *Source) Lossy() bool { return s.lossy }

// Close closes the file. The Source must not be read afterwards.
func (s *Source) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

// reopen opens the file at its beginning.
func (s *Source) reopen() error {
	s.Close() // was only read
	file, err := s.open()
	if err != nil {
		return err
	}
	s.file = file
	if s.ar, err = audiofile.NewReader(file); err == nil {
		err = CheckFormat(s.ar.Format().Format, s.number)
	}
	if err != nil {
		s.Close()
		return err
	}
	f := s.ar.Format()
	s.rate, s.step, s.lossy = f.SampleRate, f.Channels, f.Lossy
	s.left = maxSamples(f.SampleRate, s.most)
	if len(s.block) < readBlock*f.Channels {
		s.block = make([]float64, readBlock*f.Channels)
	}
	s.rest = nil
	return nil
}

// scan reads the file once. It keeps its samples in at most so many bytes.
func (s *Source) scan(most int) error {
	mono := make([]float64, readBlock)
	keep := true
	for {
		n, err := s.fill(mono)
		if err != nil {
			return err
		}
		s.survey.Add(nil, mono[:n])
		if keep = keep && s.kept.bytes() <= most; keep {
			s.kept.add(mono[:n])
		} else {
			s.kept = held{}
		}
		if n < len(mono) {
			break
		}
	}
	if s.Len() == 0 {
		return UnsuitableError("file holds no samples")
	}
	if s.left == 0 {
		var more [1]float64
		s.left = 1
		n, err := s.fill(more[:])
		if err != nil {
			return err
		}
		s.partial = n > 0
	}
	s.truncated = s.ar.Truncated()
	if keep {
		s.Close() // was only read
		s.ar, s.open = nil, nil
	}
	return nil
}

// fill reads samples of the channel until dst is full or the file or its part ends.
func (s *Source) fill(dst []float64) (n int, err error) {
	for n < len(dst) {
		m, err := s.Read(dst[n:])
		n += m
		if err == io.EOF {
			break
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// Rewind makes the next Read begin at the first sample.
func (s *Source) Rewind() error {
	s.next = 0
	if s.open == nil {
		return nil
	}
	return s.reopen()
}

// Within makes reads fail with ctx's error too, until leave is called.
func (s *Source) Within(ctx context.Context) (leave func()) {
	before := s.within
	s.within = ctx
	return func() { s.within = before }
}

// Read reads the next samples, with the values that they count as; see [dsp.Samples] and
// [dsp.Bounded].
func (s *Source) Read(dst []float64) (int, error) {
	n, err := s.read(dst)
	if n > 0 {
		if x := dsp.Bounded(s.clean, dst[:n]); &x[0] != &dst[0] {
			s.clean = x
			copy(dst, x)
		}
	}
	return n, err
}

// read reads the next samples as they are.
func (s *Source) read(dst []float64) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	if s.within != nil && s.within.Err() != nil {
		return 0, s.within.Err()
	}
	if s.ar == nil {
		n := s.kept.read(dst, s.next)
		s.next += n
		if n == 0 && len(dst) > 0 {
			return 0, io.EOF
		}
		return n, nil
	}
	if s.file == nil {
		return 0, errors.New("features: read of a closed source")
	}
	if s.left == 0 {
		return 0, io.EOF
	}
	if s.step == 1 && len(s.rest) == 0 { // as they are
		n, err := s.ar.Read(dst[:min(len(dst), s.left)])
		s.left -= n
		return n, err
	}
	if len(s.rest) == 0 {
		n, err := s.ar.Read(s.block[:readBlock*s.step])
		if err != nil {
			return 0, err
		}
		s.rest = s.block[:n]
	}
	n := min(len(dst), len(s.rest)/s.step, s.left)
	first := max(s.number, 1) - 1
	for i := range dst[:n] {
		dst[i] = s.rest[i*s.step+first]
	}
	s.rest = s.rest[n*s.step:]
	s.left -= n
	return n, nil
}

// Channel reads all samples into memory.
func (s *Source) Channel() (*Channel, error) {
	c := &Channel{Rate: s.rate, Truncated: s.truncated, Partial: s.partial, Lossy: s.lossy}
	if s.kept.all != nil {
		c.Samples = s.kept.all
		return c, nil
	}
	if err := s.Rewind(); err != nil {
		return nil, err
	}
	c.Samples = make([]float64, s.Len())
	n, err := s.fill(c.Samples)
	if err == nil && n < len(c.Samples) {
		err = dsp.ErrChanged
	}
	return c, err
}
