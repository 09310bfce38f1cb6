package dsp

import (
	"errors"
	"io"
	"math"
)

// Samples is a mono signal that is read in blocks, as often as needed. It is not safe
// for concurrent use.
type Samples interface {
	// Rewind makes the next Read begin at the first sample. The samples are the
	// same each time.
	Rewind() error
	// Read fills dst from the beginning with at most len(dst) of the next samples
	// and returns their number. At the end it returns 0 and io.EOF.
	Read(dst []float64) (int, error)
}

// ErrChanged is the error of a signal that has fewer samples when it is read again.
var ErrChanged = errors.New("dsp: the signal ends earlier when it is read again")

// NewSamples returns x as Samples. x is not copied and must not be changed.
func NewSamples(x []float64) Samples { return &slice{all: x} }

type slice struct{ all, rest []float64 }

func (s *slice) Rewind() error {
	s.rest = s.all
	return nil
}

func (s *slice) Read(dst []float64) (int, error) {
	n := copy(dst, s.rest)
	s.rest = s.rest[n:]
	if n == 0 && len(dst) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// readFull reads samples until dst is full or the signal ends, and returns their
// number. The end is no error.
func readFull(src Samples, dst []float64) (int, error) {
	n := 0
	for n < len(dst) {
		m, err := src.Read(dst[n:])
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

const (
	// signalBlock is how many samples a signal reads at a time, a multiple of 4.
	// Chosen: 64 KB, which fits a second-level cache.
	signalBlock = 8192
	// signalStep is how many frames a stage advances before the next stage does:
	// 0.5 s. Chosen: 0.2 MB of samples, and few calls.
	signalStep = 50
	// signalMargin is how many samples before the frames of a step are still read,
	// 0.25 s. The largest reach backwards is that of an [HNR]: 0.12 s.
	signalMargin = SampleRate / 4
)

// A signal is a recording as the stages of an [Analyzer] read it: by parts, which move
// forward. All samples are in memory, or only a window that follows the parts.
type signal struct {
	n     int       // samples of the recording
	x     []float64 // those in memory,
	base  int       // from this one on
	floor int       // no part begins before this one any more
	src   Samples   // nil if all samples are in memory
	dirty bool      // whether samples of src must be replaced; see sanitize
	err   error     // of src; the samples from then on are 0
}

// whole returns a signal of samples that are all in memory.
func whole(x []float64) signal { return signal{n: len(x), x: x} }

// part returns the samples lo to hi−1, which must be in the recording; none if
// lo ≥ hi. The result is
// valid until the next call.
func (s *signal) part(lo, hi int) []float64 {
	if lo >= hi {
		return nil
	}
	if hi > s.base+len(s.x) {
		s.fetch(hi)
	}
	return s.x[lo-s.base : hi-s.base]
}

// fetch moves the window forward to the sample hi.
func (s *signal) fetch(hi int) {
	if s.src == nil {
		return // part panics
	}
	n := len(s.x)
	if drop := min(max(s.floor-s.base, 0), n); drop > 0 {
		n = copy(s.x, s.x[drop:])
		s.base += drop
	}
	want := min((hi-s.base-n+signalBlock-1)/signalBlock*signalBlock, s.n-s.base-n)
	if cap(s.x) < n+want {
		s.x = append(make([]float64, 0, n+want+want/2), s.x[:n]...)
	}
	s.x = s.x[:n+want]
	fresh := s.x[n:]
	m := 0
	if s.err == nil {
		if m, s.err = readFull(s.src, fresh); s.err == nil && m < len(fresh) {
			s.err = ErrChanged
		}
	}
	clear(fresh[m:])
	if s.dirty {
		replace(fresh)
	}
}

// rewind makes the window start at the first sample again.
func (s *signal) rewind() {
	s.floor = 0
	if s.src == nil {
		return
	}
	s.base, s.x = 0, s.x[:0]
	if s.err == nil {
		s.err = s.src.Rewind()
	}
}

// steps calls work for the frames 0 to n−1 in steps, each with its first frame and the
// frame after its last one, and lets samples go that no later step reads. It ends early
// with an error of src.
func (s *signal) steps(n int, work func(first, limit int)) {
	for i := 0; i < n && s.err == nil; i += signalStep {
		s.floor = max(0, i*hopSamples-signalMargin)
		work(i, min(i+signalStep, n))
	}
}

// An extent holds the lowest, the highest and the mean sample.
type extent struct{ lo, hi, mean float64 }

// A Survey finds the number of samples of a signal and their lowest, highest and mean
// value, block by block. A sample that is NaN or infinite counts as 0, and a sample
// beyond ±16 as ±16. The zero value is ready for use.
type Survey struct {
	n      int
	lo, hi float64
	sum    [4]float64 // of every fourth sample
	dirty  bool       // whether samples counted as others
}

// Len is the number of samples so far.
func (v *Survey) Len() int { return v.n }

// Add takes the next samples: a multiple of 4 but for the last block, as the order of
// the sums depends on it. It returns x, or a copy in dst's memory, if that is large
// enough, with the values that samples count as.
func (v *Survey) Add(dst, x []float64) []float64 {
	before := *v
	v.add(x)
	if v.clean() {
		return x
	}
	*v = before
	v.dirty = true
	dst = sized(dst, len(x))
	copy(dst, x)
	replace(dst)
	v.add(dst)
	return dst
}

func (v *Survey) add(x []float64) {
	if len(x) == 0 {
		return
	}
	if v.n == 0 {
		v.lo, v.hi = x[0], x[0]
	}
	v.n += len(x)
	s := [12]float64{
		v.sum[0], v.sum[1], v.sum[2], v.sum[3],
		v.lo, v.lo, v.lo, v.lo, v.hi, v.hi, v.hi, v.hi,
	}
	n := len(x) &^ 3
	if hasAVX && n > 0 {
		surveyAVX(&s, &x[0], n)
	} else {
		surveyGo(&s, x[:n])
	}
	for _, v := range x[n:] {
		s[0] += v
		s[4], s[8] = min(s[4], v), max(s[8], v)
	}
	v.sum = [4]float64(s[:4])
	v.lo, v.hi = min(s[4], s[5], s[6], s[7]), max(s[8], s[9], s[10], s[11])
}

// surveyGo is surveyAVX without assembly. x has a multiple of four samples.
func surveyGo(s *[12]float64, x []float64) {
	for ; len(x) >= 4; x = x[4:] {
		for i, v := range (*[4]float64)(x) {
			s[i] += v
			if v < s[4+i] {
				s[4+i] = v
			}
			if v > s[8+i] {
				s[8+i] = v
			}
		}
	}
}

// extent returns the extent of all samples.
func (v *Survey) extent() extent {
	return extent{v.lo, v.hi, ((v.sum[0] + v.sum[1]) + (v.sum[2] + v.sum[3])) / float64(v.n)}
}

// clean reports whether all samples are finite and within ±maxSample.
func (v *Survey) clean() bool {
	e := v.extent()
	return v.n == 0 || e.lo >= -maxSample && e.hi <= maxSample && !math.IsNaN(e.mean)
}

// SurveySamples surveys src from its beginning, with the given block as scratch, whose
// length is a multiple of 4.
func SurveySamples(src Samples, block []float64) (v Survey, err error) {
	if err := src.Rewind(); err != nil {
		return v, err
	}
	for {
		n, err := readFull(src, block)
		if err != nil {
			return v, err
		}
		v.Add(block, block[:n])
		if n < len(block) {
			return v, nil
		}
	}
}

// sanitize returns x and its extent. If samples of x are not finite or are beyond
// ±maxSample it returns a copy in which 0 or ±maxSample replaces them, in dst's
// memory if that is large enough. x must not be empty.
func sanitize(dst, x []float64) ([]float64, extent) {
	var v Survey
	x = v.Add(dst, x)
	return x, v.extent()
}

// Bounded returns x, or a copy in dst's memory, if that is large enough, with the values that
// samples count as: 0 where one is NaN or infinite, and ±16 where it is beyond.
func Bounded(dst, x []float64) []float64 {
	x, _ = sanitize(dst, x)
	return x
}

// replace puts 0 for samples that are NaN or infinite, and ±maxSample for those beyond.
func replace(x []float64) {
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			v = 0
		}
		x[i] = min(max(v, -maxSample), maxSample)
	}
}
