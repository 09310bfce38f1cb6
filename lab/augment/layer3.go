package augment

import "math"

// bandsLow and bandsHigh are the edges of the scale factor bands of long
// blocks in MPEG-2 audio at 22.05 kHz, used here to 28 kHz, and in MPEG-1
// audio at 44.1 kHz (ISO/IEC 13818-3 and 11172-3, table B.8).
var (
	bandsLow  = []int{0, 6, 12, 18, 24, 30, 36, 44, 54, 66, 80, 96, 116, 140, 168, 200, 238, 284, 336, 396, 464, 522, 576}
	bandsHigh = []int{0, 4, 8, 12, 16, 20, 24, 30, 36, 44, 52, 62, 74, 90, 110, 134, 162, 196, 238, 288, 342, 418, 576}
)

const (
	layer3Lines = 576
	// layer3Sides are the bits of one granule that are not spectrum: header,
	// side information and about 50 bits of scale factors.
	layer3Sides = 150
	// layer3Rounding is what the standard adds before it cuts off.
	layer3Rounding = 0.4054
	// layer3Mask is how far below the spread energy the noise of a band must
	// lie to be masked, in dB; between 6 for noise and 18 to 24 for a tone.
	layer3Mask = 15.0
	// layer3Trials is how often the outer loop raises bands.
	layer3Trials = 6
)

// A layer3 simulates an encoder of MPEG audio layer III at a constant rate of
// bits: the sine window, long blocks only and no polyphase filter bank, but
// the standard's power-law quantiser and its two loops: the inner finds
// the finest global step whose estimated code fits the granule, the outer
// raises the bands whose noise is not masked (ISO/IEC 11172-3, annex C.1.5.4).
type layer3 struct {
	edges  []int
	budget float64   // bits a granule
	saved  float64   // bits in the reservoir
	cut    int       // lines from here on are not coded
	power  []float64 // |c|^¾
	raised []float64 // steps of ½ octave by which a band is raised
	mask   []float64 // power of the noise that a band masks
	trial  []float64
}

// mp3 passes x through a simulated codec of the rate of bits, in kbit/s.
func mp3(x []float64, rate int, kbps float64) []float64 {
	c := &layer3{edges: bandsLow, power: make([]float64, layer3Lines), trial: make([]float64, layer3Lines)}
	if rate > 28000 {
		c.edges = bandsHigh
	}
	c.raised, c.mask = make([]float64, len(c.edges)-1), make([]float64, len(c.edges)-1)
	c.budget = max(kbps*1000*layer3Lines/float64(rate)-layer3Sides, 60)
	c.cut = min(layer3Lines, int(layer3Edge(rate, kbps)/(float64(rate)/2)*layer3Lines))
	return newMDCT(layer3Lines).blocks(x, c.granule)
}

// layer3Edge is the edge in Hz of LAME's low pass (3.100, mono, measured with
// noise): 8.25 kHz at 32 kbit/s, and at most 0.453 of the rate.
func layer3Edge(rate int, kbps float64) float64 {
	edge := math.Inf(1)
	if kbps < 48 {
		edge = 8250
	}
	return min(edge, 0.453*float64(rate))
}

// granule quantises the lines of one granule in place.
func (l *layer3) granule(c []float64) {
	clear(c[l.cut:])
	var most float64
	for k, v := range c {
		l.power[k] = math.Pow(math.Abs(v), 0.75)
		most = max(most, l.power[k])
	}
	if most == 0 {
		return
	}
	l.masks(c)
	clear(l.raised)
	budget := l.budget + 0.4*l.saved // a granule may take part of what others left
	var used float64
	for range layer3Trials {
		used = l.inner(c, budget, most)
		if !l.raise(c) {
			break
		}
	}
	l.saved = min(max(l.saved+l.budget-used, 0), 4*l.budget)
	copy(c, l.trial)
}

// masks sets the noise that each band masks: its energy spread to its
// neighbours, which falls by 10 dB a band upwards and 25 downwards, less
// layer3Mask.
func (l *layer3) masks(c []float64) {
	for b := range l.mask {
		l.mask[b] = 0
		for _, v := range c[l.edges[b]:l.edges[b+1]] {
			l.mask[b] += v * v
		}
	}
	const up, down = 0.1, 0.00316
	for b := 1; b < len(l.mask); b++ {
		l.mask[b] = max(l.mask[b], up*l.mask[b-1])
	}
	for b := len(l.mask) - 2; b >= 0; b-- {
		l.mask[b] = max(l.mask[b], down*l.mask[b+1])
	}
	for b := range l.mask {
		l.mask[b] *= math.Pow(10, -layer3Mask/10)
	}
}

// inner leaves in trial the lines as quantised by the finest global step that
// fits the budget, in steps of a quarter of an octave of amplitude as the
// standard has them, and returns the bits.
func (l *layer3) inner(c []float64, budget, most float64) float64 {
	// Step g quantises |x|^¾·2^(−3g/16). At the highest g all is 0, at the
	// lowest the largest number is 8191, the format's limit.
	high := int(math.Ceil(16. / 3 * math.Log2(most/0.5)))
	low := int(math.Floor(16. / 3 * math.Log2(most/8191)))
	for low < high {
		g := (low + high) >> 1
		if l.quantise(c, g, false) <= budget {
			high = g
		} else {
			low = g + 1
		}
	}
	return l.quantise(c, low, true)
}

// quantise returns the estimated bits of the lines at step g; if keep, it puts
// the decoded lines into trial.
func (l *layer3) quantise(c []float64, g int, keep bool) (bits float64) {
	var zeros float64 // bits of zeros since the last line that is not 0
	for b := range l.mask {
		step := math.Exp2(-3./16*float64(g) + 3./8*l.raised[b])
		back := math.Pow(step, -4./3)
		for k := l.edges[b]; k < l.edges[b+1]; k++ {
			q := math.Floor(l.power[k]*step + layer3Rounding)
			if q == 0 {
				zeros += codeOfZero
			} else {
				bits += zeros + codeOfOne + codeOfOctave*math.Log2(q)
				zeros = 0
			}
			if keep {
				l.trial[k] = math.Copysign(q*math.Cbrt(q)*back, c[k])
			}
		}
	}
	return bits
}

// The bits of one line under the standard's Huffman tables, roughly: in table
// 24 a pair of zeros takes 4 bits, in the tables of small values one; a pair of
// ones takes 3 to 5 with its signs; linear bits and sign for large values.
const (
	codeOfZero   = 0.6
	codeOfOne    = 2.4
	codeOfOctave = 1.6
)

// raise raises the bands whose noise in trial is not masked, and says whether
// there were any and not all.
func (l *layer3) raise(c []float64) bool {
	over := 0
	last := len(l.mask) - 1 // the uppermost has no scale factor
	for b := range last {
		var noise float64
		for k := l.edges[b]; k < l.edges[b+1]; k++ {
			d := c[k] - l.trial[k]
			noise += d * d
		}
		if noise > l.mask[b] {
			over++
			l.raised[b]++
		}
	}
	return over > 0 && over < last
}
