package dsp

import (
	"math"
	"strconv"
)

// The rates in Hz between which a [Resampler] converts. Chosen: from half a telephone's
// rate to the fastest converters. The limits keep its tables small for every rate
// that a file's header may state.
const (
	MinResampleRate = 4000
	MaxResampleRate = 384000
)

const (
	// resampleStop is the attenuation in dB for which both Kaiser windows are
	// designed. It is 20 dB more than the promised 120, because the spectrum beyond
	// the stop-band edge is dropped and not filtered. The ripple is then
	// 20·log10(1 + 2·10⁻⁷) < 0.00001 dB.
	resampleStop = 140
	// resamplePass is the share of the smaller half rate that passes unchanged.
	// From there to the whole the response falls. Chosen: a narrower transition
	// needs a longer filter.
	resamplePass = 0.9
	// resamplePhases bounds the rows of the interpolation table. Ratios with
	// more phases interpolate linearly between rows, which is wrong by less than
	// (π/2)²/8/2048² = −143 dB of a tap.
	resamplePhases = 2048
)

// A Resampler converts signals from one sampling rate to another, with linear
// (zero) phase: sample k of the result is the band-limited signal at the time
// k/to.
//
// It works in two steps. The first is a convolution by FFT (overlap-save) with a
// Kaiser-windowed sinc that passes 0.9 of the smaller half rate and stops at the
// whole. The inverse FFT is longer or shorter by a power of two, so that the result
// has 2 to 4 times the smaller rate. At that rate the second step interpolates with a
// short polyphase Kaiser-windowed sinc (R. Crochiere and L. Rabiner, Multirate
// Digital Signal Processing, 1983, sections 2.4 and 4.4; J. Kaiser, "Nonrecursive
// digital filter design using the I0-sinh window function", Proc. IEEE ISCAS, 1974).
// Ripple is below 0.001 dB, and images and aliases are below −120 dB.
//
// A Resampler owns its scratch, allocates nothing after [NewResampler] but a dst that
// is too short, and is not safe for concurrent use.
type Resampler struct {
	from, to int

	// First step. The output of a block is valid but for its first and last half
	// samples.
	forward, inverse *FFT
	half, valid      int // input samples
	response         []float64
	block, wide      []float64
	bins, wideBins   []complex128

	// Second step. Output k is at the sample k·num/den of the signal between.
	num, den int
	taps     int         // a multiple of 4; 0 if every output is a sample of the signal between
	rows     [][]float64 // the kernel at phase i/(len(rows)−1), taps points each, one after the other in memory
	avx      bool        // whether the second step runs in assembly
	queue    []float64   // the stretch of the signal between that is being read
}

// NewResampler returns a Resampler between two rates in Hz. It panics if one
// is below [MinResampleRate] or above [MaxResampleRate].
func NewResampler(from, to int) *Resampler {
	for _, rate := range []int{from, to} {
		if rate < MinResampleRate || rate > MaxResampleRate {
			panic("dsp: cannot resample at " + strconv.Itoa(rate) + " Hz")
		}
	}
	r := &Resampler{from: from, to: to, avx: hasAVX}
	if from == to {
		return r
	}
	// The signal between has the rate from·up/down ≥ 2·smaller.
	smaller := min(from, to)
	up, down := 1, 1
	if from < 2*smaller {
		up = 2
	}
	for from >= 4*smaller*down {
		down *= 2
	}
	r.designFilter(float64(smaller)/2, up, down)
	g := gcd(from*up, to*down)
	r.num, r.den = from*up/g, to*down/g
	if r.den > 1 {
		r.designInterpolator(float64(smaller) / 2 / (float64(from*up) / float64(down)))
	}
	r.queue = make([]float64, r.taps+r.valid*up/down)
	return r
}

// designFilter sets up the first step for a signal that is to end at the
// frequency edge in Hz.
func (r *Resampler) designFilter(edge float64, up, down int) {
	from := float64(r.from)
	beta, length := kaiser(2 * math.Pi * (1 - resamplePass) * edge / from)
	r.half = (int(length/2) + down) / down * down
	n := powerOfTwo(8 * r.half)
	r.valid = n - 2*r.half
	r.forward, r.inverse = NewFFT(n), NewFFT(n*up/down)
	r.block, r.bins = make([]float64, n), make([]complex128, n/2+1)
	r.wide, r.wideBins = make([]float64, n*up/down), make([]complex128, n*up/down/2+1)

	// The filter at the rate from·up, centred on sample 0 and wrapped round.
	cutoff := (1 + resamplePass) / 2 * edge / (from * float64(up)) // cycles per sample
	h := make([]float64, n*up)
	for j := -r.half*up + 1; j < r.half*up; j++ {
		w := besselI0(beta*math.Sqrt(1-sq(float64(j)/float64(r.half*up)))) / besselI0(beta)
		h[(j+len(h))%len(h)] = 2 * cutoff * sinc(2*cutoff*float64(j)) * w
	}
	// The bins above the edge are dropped. The inverse divides by its own length,
	// the forward transform had n samples.
	gain := float64(up) / float64(down)
	r.response = make([]float64, int(edge*float64(n)/from)+1)
	for k, c := range NewFFT(n*up).Coefficients(nil, h)[:len(r.response)] {
		r.response[k] = gain * real(c)
	}
}

// designInterpolator sets up the second step for a signal that ends at the
// frequency edge in cycles per sample, at most ¼.
func (r *Resampler) designInterpolator(edge float64) {
	beta, length := kaiser(2 * math.Pi * (1 - 2*edge))
	r.taps = (int(length/4) + 1) * 4
	phases := min(r.den, resamplePhases)
	r.rows = make([][]float64, phases+1)
	table := make([]float64, (phases+1)*r.taps)
	for i := range r.rows {
		row := table[i*r.taps:][:r.taps]
		for j := range row {
			// Tap j weighs the sample j − taps/2 + 1 after the one at phase 0.
			u := float64(i)/float64(phases) - float64(j-r.taps/2+1)
			if w := 1 - sq(2*u/float64(r.taps)); w > 0 {
				row[j] = sinc(u) * besselI0(beta*math.Sqrt(w)) / besselI0(beta)
			}
		}
		r.rows[i] = row
	}
}

// Len is the number of samples of the result for n samples, ⌈n·to/from⌉.
func (r *Resampler) Len(n int) int {
	whole, rest := n/r.from, n%r.from
	return whole*r.to + (rest*r.to+r.from-1)/r.from
}

// Resample converts the whole signal x, taken as 0 outside, and returns the result,
// which has Len(len(x)) samples. The result is in dst's memory if that is large
// enough, and is allocated otherwise. dst must not overlap x, which is not changed. A
// sample that is NaN or infinite makes the samples of its FFT block NaN: 64 ms from 16
// kHz. Equal rates copy x.
func (r *Resampler) Resample(dst, x []float64) []float64 {
	n := r.Len(len(x))
	dst = sized(dst, n)
	if r.from == r.to {
		copy(dst, x)
		return dst
	}
	first, start := r.begin()
	for k := 0; k < n; start += r.valid {
		CopyFrame(r.block, x, start-r.half)
		r.filter()
		k += r.interpolate(dst[k:], k, first)
		first += r.shift()
	}
	return dst
}

// begin empties the queue. queue[0] is the sample first of the signal between; the next
// stretch of it starts at the input sample start. The signal between rings before the
// first sample of the input, so it starts as long before as the kernel reaches.
func (r *Resampler) begin() (first, start int) {
	clear(r.queue)
	start = -r.taps * (len(r.block) / gcd(len(r.block), len(r.wide)))
	return start*len(r.wide)/len(r.block) - r.taps, start
}

// shift makes room in the queue for the next stretch and returns its length.
func (r *Resampler) shift() int {
	copy(r.queue, r.queue[len(r.queue)-r.taps:])
	return len(r.queue) - r.taps
}

// filter puts the stretch of the signal between that starts half samples into the block
// behind the queue.
func (r *Resampler) filter() {
	r.forward.Coefficients(r.bins, r.block)
	wide := r.wideBins[:len(r.response)]
	for k, g := range r.response {
		c := r.bins[k]
		wide[k] = complex(g*real(c), g*imag(c))
	}
	r.inverse.Sequence(r.wide, r.wideBins)
	copy(r.queue[r.taps:], r.wide[r.half*len(r.wide)/len(r.block):])
}

// interpolate computes the outputs from k on that the queue, which starts at
// the sample first, has all samples for, at most len(dst). It returns their number.
func (r *Resampler) interpolate(dst []float64, k, first int) int {
	at, phase := k/r.den*r.num, k%r.den*r.num // position k·num/den
	at, phase = at+phase/r.den-first, phase%r.den
	step, turn := r.num/r.den, r.num%r.den
	lead := max(r.taps/2-1, 0) // samples before the one at phase 0
	if r.avx && r.taps > 0 && r.den <= resamplePhases {
		// Output k is there if k·num/den − first − lead + taps ≤ len(queue).
		end := int64(max(len(r.queue)-r.taps+lead+first+1, 0)) * int64(r.den) // first k·num that is not
		n := min(int((end+int64(r.num)-1)/int64(r.num))-k, len(dst))
		if n <= 0 {
			return 0
		}
		interpolateAVX(&dst[0], &r.queue[at-lead], &r.rows[0][0], r.taps, n, phase, r.den, step, turn)
		return n
	}
	for k := range dst {
		lo := at - lead
		if lo+max(r.taps, 1) > len(r.queue) {
			return k
		}
		z := r.queue[lo : lo+r.taps]
		switch {
		case r.taps == 0:
			dst[k] = r.queue[at]
		case r.den <= resamplePhases:
			dst[k] = dot4(r.rows[phase], z)
		default:
			p := float64(phase) / float64(r.den) * resamplePhases
			i := int(p)
			a := dot4(r.rows[i], z)
			dst[k] = a + (p-float64(i))*(dot4(r.rows[i+1], z)-a)
		}
		at += step
		if phase += turn; phase >= r.den {
			phase -= r.den
			at++
		}
	}
	return len(dst)
}

// dot4 is Σ a[j]·b[j] for a multiple of 4 points, in four interleaved sums as in
// interpolateAVX. [Dot] has eight, which gives other bits.
func dot4(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	for j := 0; j <= len(a)-4; j += 4 {
		p, q := (*[4]float64)(a[j:j+4]), (*[4]float64)(b[j:j+4])
		s0 += p[0] * q[0]
		s1 += p[1] * q[1]
		s2 += p[2] * q[2]
		s3 += p[3] * q[3]
	}
	return (s0 + s1) + (s2 + s3)
}

// kaiser returns β and the number of points of the Kaiser window with which a
// windowed sinc attenuates by resampleStop after a transition of width radians
// per sample (Kaiser, 1974; Oppenheim and Schafer, Discrete-Time Signal
// Processing, 3rd ed., eq. 7.75 and 7.76).
func kaiser(width float64) (beta, length float64) {
	return 0.1102 * (resampleStop - 8.7), (resampleStop - 8) / (2.285 * width)
}

// besselI0 is the modified Bessel function of the first kind of order 0, by its
// power series (Abramowitz and Stegun, Handbook of Mathematical Functions, 1964,
// eq. 9.6.12).
func besselI0(x float64) float64 {
	s, term := 1.0, 1.0
	for k := 1.0; term > 1e-17*s; k++ {
		term *= sq(x / 2 / k)
		s += term
	}
	return s
}

// sinc is sin(πx)/(πx), exactly 0 at whole numbers but 0.
func sinc(x float64) float64 {
	switch {
	case x == 0:
		return 1
	case x == math.Trunc(x):
		return 0
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

func sq(x float64) float64 { return x * x }

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
