package dsp

import (
	"math"
	"slices"
)

const (
	pulseRate     = 11025.0 // Hz, rate aimed at by the decimation, which keeps the excitation of F1 to F4; chosen
	pulseSearch   = 0.8     // shortest and
	pulseReach    = 1.25    // longest next period searched, in periods of the track; Praat manual, "Sound & Pitch: To PointProcess (cc)"
	pulseMatch    = 0.3     // least correlation of the waveforms of neighbouring periods, below which a stretch ends; chosen
	pulseAlike    = 0.8     // the same beyond the voiced frames of the track of an Analysis; chosen: see Pulses.beyond
	pulseLoose    = 0.1     // least correlation within the voiced frames of the track: 4 % jitter gets there; chosen
	pulseFaint    = 0.05    // share of the strongest pulse of a stretch below which it ends; chosen, −26 dB
	pulseDecay    = 0.15    // excitation, as a share of the previous one, below which a pulse may be only decay, and
	ringDown      = 0.5     // waveform, as a share of the previous one, below which it is: the stretch ends; chosen
	pulseWindow   = 0.25    // half width in periods of the matched excitation; chosen: a longer one takes in other events, a shorter one is noisier
	pulseSlack    = 4       // decimated samples around the coarse lag in which the fine lag is sought; chosen
	pulseSlip     = 0.2     // the same, in periods, with refitted models: the waveform may have matched one cycle of a formant aside; chosen
	pulseSlipLoss = 0.7     // factor of a match beyond pulseSlack; chosen
	endRing       = 6       // pulses at an end of a stretch that may be only decay: a bandwidth of 90 Hz falls from 1 to pulseFaint in four periods of 400 Hz
	pulseLeast    = 10.0    // samples of the decimated signal in the shortest period: 1.1 kHz at 44.1 kHz, above any voice; chosen
	blockTime     = 4.0     // s, longest stretch handled in one piece, which bounds the scratch memory; chosen
	marginTime    = 0.060   // s of samples on both sides of a stretch: two longest periods and the filters
)

// Pulses finds the glottal pulses of a recording from its F0 track: one pulse in
// each period, at the same place of the waveform in each, so that the intervals
// between them are the periods.
//
// The search is by waveform matching: normalised correlation of neighbouring
// periods (P. Milenkovic, "Least mean square measures of voice perturbation", J.
// Speech Hear. Res. 30, 1987, 529–538; Y. Medan, E. Yair and D. Chazan, "Super
// resolution pitch determination of speech signals", IEEE Trans. Signal Processing
// 39, 1991, 40–48; Praat manual, page "Sound & Pitch: To PointProcess (cc)"). It
// starts from the strongest excitation in the middle of each voiced stretch and
// proceeds outwards; the waveform of one period is matched with the samples 0.8 to
// 1.25 periods away. P. Boersma, "Should jitter be measured by peak picking or by
// waveform matching?", Folia Phoniatrica et Logopaedica 61 (2009), 305–308, gives
// the reasons for matching.
//
// A second step, the project's own, sharpens each lag: it matches only the
// excitation, a short piece of the linear prediction residual (J. Makhoul, "Linear
// prediction: a tutorial review", Proc. IEEE 63, 1975, section IV), whose
// correlation is interpolated between samples. The vocal tract rings from one
// period into the next and pulls the maximum of the waveform's own correlation
// towards the mean period, which hides a part of the jitter.
//
// A Pulses owns its scratch memory, allocates nothing after a call with the longest
// stretch, and is not safe for concurrent use.
type Pulses struct {
	sr, rate float64
	d        int
	box      []float64
	mean     float64   // offset of the recording, after the box
	y        []float64 // decimated samples of the stretch
	from     int       // sample of the recording of which y[0] is the first of the box
	res      residual
	interp   *interpolator
	before   []float64 // the pulses of the stretch
	ampHere  []float64 // and their amplitudes
	amp      []float64 // amplitudes of all pulses of the recording
	corr     []float64
	at       int // frame from which on stretches are sought

	// beyond is the least correlation of the waveforms of neighbouring periods beyond the
	// voiced frames. The ends of phrases are often creaky or faint there. With pulseMatch,
	// one or two periods at either end raise the jitter of speech by 0.4 standard deviations
	// between speakers over that of the tracks of PitchOptions.Strict, which end earlier;
	// with pulseAlike by 0.04 (27 speakers, 15 s each).
	beyond float64
}

// NewPulses returns a Pulses for mono samples at sr Hz. It panics unless sr is
// at least 4 kHz.
func NewPulses(sr float64) *Pulses {
	if !(sr >= 4000) || math.IsInf(sr, 0) {
		panic("dsp: sample rate out of range")
	}
	d := max(1, int(math.Round(sr/pulseRate)))
	p := &Pulses{sr: sr, rate: sr / float64(d), d: d, box: boxes(d), interp: newInterpolator(), beyond: pulseMatch}
	return p
}

// Find returns the times of the glottal pulses of x in seconds from its first
// sample, ascending. f0 is the track of x in Hz, with frames centred on i·[Hop]
// and 0 where unvoiced, as [Pitch.Track] gives it. F0 above about 1.1 kHz counts
// as unvoiced. Unvoiced frames have no pulses, but for one period at the ends of a
// voiced stretch. x must be finite: pulses near another sample are undefined. The
// result is appended to dst[:0], in dst's memory where that is large
// enough; dst may be nil. x and f0 are not changed.
func (p *Pulses) Find(dst, x, f0 []float64) []float64 {
	all := whole(x)
	p.start(p.offset(&all, f0), 0)
	return p.find(dst[:0], &all, f0, len(f0))
}

// start begins to find the pulses of a recording with the given offset, about as many as
// expected.
func (p *Pulses) start(offset float64, expected int) {
	p.amp = emptied(p.amp, expected)
	p.mean = offset * total(p.box, hasAVX)
	p.at = 0
}

// find appends the pulses of the voiced stretches that begin before limit, which
// ascends from call to call.
func (p *Pulses) find(dst []float64, x *signal, f0 []float64, limit int) []float64 {
	top := p.rate / pulseLeast
	most := int(blockTime / Hop)
	for p.at < limit {
		i := p.at
		if !(f0[i] > 0 && f0[i] <= top) {
			p.at++
			continue
		}
		end := i + 1
		for end < len(f0) && f0[end] > 0 && f0[end] <= top && end-i < most {
			end++
		}
		dst = p.stretch(dst, x, f0, i, end)
		p.at = end
	}
	return dst
}

const (
	offsetFrames = 10  // unvoiced frames, 0.1 s, that are enough to measure the offset; chosen
	leastOffset  = 0.5 // without them: the least mean, in RMS about the mean, that is an offset; chosen, above the 0.34 of pulse trains
)

// offset is the offset of x; see offsets.
func (p *Pulses) offset(x *signal, f0 []float64) float64 {
	o := offsets{hop: p.sr * Hop}
	o.frames(x, f0, len(f0))
	y := x.part(0, x.n)
	n := float64(max(len(y), 1))
	return o.offset(total(y, hasAVX)/n, dotProduct(y, y, hasAVX)/n)
}

// An offsets measures the offset of a recording: its mean over the unvoiced frames, to
// which the voice does not contribute. A waveform of one-sided pulses has a mean of its
// own, up to 0.34 of its RMS in pulse trains of 250 Hz. Subtracting that would make the
// models of the ringing wrong. Without unvoiced frames only a mean above leastOffset is
// an offset.
type offsets struct {
	hop    float64 // samples
	next   int     // frame that is taken next
	sum, n float64 // of the samples of unvoiced frames, and their number
}

// frames takes the frames before limit, which ascends from call to call.
func (o *offsets) frames(x *signal, f0 []float64, limit int) {
	for ; o.next < limit; o.next++ {
		i := float64(o.next)
		lo, hi := max(0, int((i-0.5)*o.hop)), min(x.n, int((i+0.5)*o.hop))
		if f0[o.next] > 0 || lo >= hi {
			continue
		}
		o.sum += total(x.part(lo, hi), hasAVX)
		o.n += float64(hi - lo)
	}
}

// offset returns the offset of a recording whose mean and mean square are given.
func (o *offsets) offset(mean, square float64) float64 {
	if o.n >= offsetFrames*o.hop {
		return o.sum / o.n
	}
	if mean*mean < leastOffset*leastOffset*(square-mean*mean) {
		return 0
	}
	return mean
}

// stretch appends the pulses of the voiced frames first … end−1.
func (p *Pulses) stretch(dst []float64, x *signal, f0 []float64, first, end int) []float64 {
	t0, t1 := (float64(first)-0.5)*Hop, (float64(end)-0.5)*Hop
	p.load(x, t0-marginTime, t1+marginTime)
	lo, hi := p.index(t0), p.index(t1)
	lo, hi = max(lo, 0), min(hi, float64(len(p.y)-1))
	period := func(at float64) float64 { return p.rate / trackAt(f0[first:end], p.time(at)/Hop-float64(first)) }
	start, shift, top, ok := p.anchor(0.5*(lo+hi), period)
	if !ok {
		return dst
	}
	p.before = p.before[:0]
	for at := start; ; {
		next, ok := p.next(at, period(at), -1, lo, hi, top)
		if !ok || next < lo-period(next) {
			break
		}
		p.before = append(p.before, next)
		at = next
	}
	slices.Reverse(p.before)
	origin := len(p.before)
	p.before = append(p.before, start)
	for at := start; ; {
		next, ok := p.next(at, period(at), 1, lo, hi, top)
		if !ok || next > hi+period(next) {
			break
		}
		p.before = append(p.before, next)
		at = next
	}
	// If a pulse was far from its excitation, so were those after it, and the
	// models were fitted between wrong pulses: repeat.
	if p.sharpen(origin, period) > pulseSlack {
		p.sharpen(origin, period)
	}
	p.ampHere = p.ampHere[:0]
	for _, at := range p.before {
		p.ampHere = append(p.ampHere, p.amplitude(at, shift, period(at)))
	}
	q, amp := trim(p.before, p.ampHere)
	for i, at := range q {
		t := p.time(at + shift)
		// two blocks of a long stretch may both find the pulse at their border
		if len(dst) > 0 && t-dst[len(dst)-1] < pulseSearch*period(at)/p.rate {
			continue
		}
		dst = append(dst, t)
		p.amp = append(p.amp, amp[i])
	}
	return dst
}

// sharpen fits the prediction models to the free ringing between the pulses and
// matches the excitations again, outwards from the pulse of index anchor. It
// returns the largest change of a lag in samples.
func (p *Pulses) sharpen(anchor int, period func(float64) float64) float64 {
	q := p.before
	p.res.refit(p.y, q)
	var moved float64
	walk := func(k, dir int, old float64) float64 {
		i, T := int(math.Round(q[k-dir])), period(q[k])
		before := math.Abs(q[k] - old)
		lag, gain := p.fine(i, int(math.Round(before)), dir, T, max(pulseSlack, int(pulseSlip*T)))
		if gain == 0 {
			lag = before
		}
		moved = max(moved, math.Abs(lag-before))
		return q[k-dir] + float64(dir)*lag
	}
	for k, old := anchor+1, q[anchor]; k < len(q); k++ {
		next := walk(k, 1, old)
		old, q[k] = q[k], next
	}
	for k, old := anchor-1, q[anchor]; k >= 0; k-- {
		next := walk(k, -1, old)
		old, q[k] = q[k], next
	}
	return moved
}

// trackAt is f0 at the fractional frame i, held beyond the ends.
func trackAt(f0 []float64, i float64) float64 {
	if !(i > 0) {
		return f0[0]
	}
	k := int(i)
	if k >= len(f0)-1 {
		return f0[len(f0)-1]
	}
	w := i - float64(k)
	return (1-w)*f0[k] + w*f0[k+1]
}

// index converts seconds of the recording to samples of y, and time converts back.
func (p *Pulses) index(t float64) float64 {
	return (t*p.sr - float64(p.from) - 0.5*float64(len(p.box)-1)) / float64(p.d)
}

func (p *Pulses) time(at float64) float64 {
	return (at*float64(p.d) + float64(p.from) + 0.5*float64(len(p.box)-1)) / p.sr
}

// load decimates the part of x between two times, less the offset, by a threefold
// moving average.
func (p *Pulses) load(x *signal, t0, t1 float64) {
	p.from = max(0, int(t0*p.sr))
	to := min(x.n, int(t1*p.sr))
	n := max(0, (to-p.from-len(p.box))/p.d+1)
	if to-p.from < len(p.box) {
		n = 0
	}
	p.y = sized(p.y, n)
	if n > 0 {
		reduce(p.y, x.part(p.from, p.from+(n-1)*p.d+len(p.box)), p.box, p.d, p.mean, hasAVX)
	}
	p.res.model(p.y, p.rate)
}

// anchor returns the strongest excitation within half a period of mid, the number
// of samples from there to the extremum of the waveform that it excites, and the
// magnitude of that extremum. ok is false for silence.
func (p *Pulses) anchor(mid float64, period func(float64) float64) (at, shift, top float64, ok bool) {
	if len(p.y) == 0 {
		return 0, 0, 0, false
	}
	half := 0.5 * period(mid)
	lo, hi := max(0, int(mid-half)), min(len(p.y), int(mid+half)+1)
	if lo >= hi {
		return 0, 0, 0, false
	}
	best := lo
	for i := lo; i < hi; i++ {
		if math.Abs(p.y[i]) > math.Abs(p.y[best]) {
			best = i
		}
	}
	top = math.Abs(p.y[best])
	// the excitation comes before the largest swing of what it excites
	lo, hi = max(0, best-int(0.6*half)), min(len(p.y), best+int(0.2*half)+1)
	e := p.res.at(p.y, lo, hi)
	if e == nil {
		return float64(best), 0, top, top > 0
	}
	strongest := 0
	for i, v := range e {
		if math.Abs(v) > math.Abs(e[strongest]) {
			strongest = i
		}
	}
	return float64(lo + strongest), float64(best - lo - strongest), top, top > 0
}

// next returns the pulse one period of about T samples after (dir = 1) or
// before (dir = −1) the pulse at. ok is false at the end of the stretch; lo and hi
// are its ends by the track.
func (p *Pulses) next(at, T float64, dir int, lo, hi, top float64) (next float64, ok bool) {
	i := int(math.Round(at))
	n := max(4, int(math.Round(T)))
	lag, r := p.match(i-n/2, n, dir, int(math.Ceil(pulseSearch*T)), int(pulseReach*T))
	least := p.beyond
	if there := at + float64(dir*lag); there > lo && there < hi {
		least = pulseLoose
	}
	if lag == 0 || r < least {
		return 0, false
	}
	here, there := p.largest(i-n/2, i+n/2), p.largest(i+dir*lag-n/2, i+dir*lag+n/2)
	if there < pulseFaint*top {
		return 0, false
	}
	exact, gain := p.fine(i, lag, dir, T, pulseSlack)
	if gain < pulseDecay && there < ringDown*min(here, top) {
		return 0, false
	}
	return at + float64(dir)*exact, true
}
