package dsp

import "io"

// A resampled is the result of a [Resampler] as Samples.
type resampled struct {
	r     *Resampler
	src   Samples
	in    []float64 // input samples from the index from on, as many as a block has
	from  int
	count int // input samples read so far
	ended bool

	first, start int       // see Resampler.begin
	next         int       // output sample that is computed next
	out          []float64 // outputs,
	rest         []float64 // of which these were not read yet
}

// Samples returns src converted by r, with the bits that [Resampler.Resample] gives. Its
// memory does not grow with the length of src. r must not be used otherwise meanwhile.
func (r *Resampler) Samples(src Samples) Samples {
	if r.from == r.to {
		return src
	}
	most := (r.valid+len(r.block))*r.to/r.from + 2
	return &resampled{r: r, src: src, in: make([]float64, len(r.block)), out: make([]float64, 0, most)}
}

func (s *resampled) Rewind() error {
	s.first, s.start = s.r.begin()
	s.from, s.count, s.ended = s.start-s.r.half, 0, false
	clear(s.in)
	s.next, s.rest = 0, nil
	// the part of the first block that is before the first sample is 0
	return s.src.Rewind()
}

func (s *resampled) Read(dst []float64) (int, error) {
	for len(s.rest) == 0 {
		if s.ended && s.next >= s.r.Len(s.count) {
			return 0, io.EOF
		}
		if err := s.block(); err != nil {
			return 0, err
		}
	}
	n := copy(dst, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// block computes the outputs of one more block of input.
func (s *resampled) block() error {
	r := s.r
	// the samples of the block that are not read yet
	at := max(s.count-s.from, 0)
	if !s.ended && at < len(s.in) {
		want := len(s.in) - at
		n, err := readFull(s.src, s.in[at:])
		if err != nil {
			return err
		}
		s.count += n
		s.ended = n < want
		clear(s.in[at+n:])
	}
	copy(r.block, s.in)
	r.filter()
	most := cap(s.out)
	if s.ended {
		most = min(most, max(r.Len(s.count)-s.next, 0))
	}
	n := r.interpolate(s.out[:most], s.next, s.first)
	s.rest, s.next = s.out[:n], s.next+n
	s.first += r.shift()
	s.start += r.valid
	// the next block overlaps this one
	clear(s.in[copy(s.in, s.in[r.valid:]):])
	s.from += r.valid
	return nil
}
