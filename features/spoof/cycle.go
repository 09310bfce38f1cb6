package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/lanes"
)

// cycleBands are the edges of the bands whose cycles are compared, in bins of 62.5 Hz: from
// 62.5 to 7250 Hz. Chosen by the inner cells of the training among 5, 7, 9 and 11 bands.
var cycleBands = [...]int{1, 6, 12, 18, 26, 36, 50, 70, 92, 117}

// cycleHalves are the edges of the lower and the upper half of each band.
var cycleHalves = func() (edges [2*cycleCount + 1]int) {
	for b := range cycleCount {
		edges[2*b], edges[2*b+1] = cycleBands[b], (cycleBands[b]+cycleBands[b+1])/2
	}
	edges[2*cycleCount] = cycleBands[cycleCount]
	return edges
}()

// cycleLags are how many pulses two cycles that are compared lie apart. Means over further
// ones, from 2 to 20, and over lags of equal time say nothing besides; the last is for
// decays alone.
var cycleLags = [...]int{1, 5, 10, 20}

const (
	cycleCount  = len(cycleBands) - 1
	cycleBins   = 116  // cycleBands[cycleCount] − cycleBands[0]
	cycleFrame  = 160  // samples, 10 ms, round a pulse; 6 to 15 ms are no better
	cycleFFT    = 256  // points
	cycleRing   = 32   // spectra that are kept: more than the longest lag
	leastChange = 1e-6 // of a mean of 1 − Re c
	leastDrift  = 2e-3 // of a difference of two; 0.0005 and 0.01 are no worse
	leastKept   = 0.05 // of a mean of Re c in a decay; chosen
)

// cycles holds how like the cycles of a voice are to each other in each band. X[i] is the
// spectrum of the samples round pulse i under a Hann window, with the phase at the pulse,
// and c = Σ X[i]·X*[i+l] / √(Σ|X[i]|²·Σ|X[i+l]|²) over the bins of a band. Re c is the
// correlation of the two waveforms; |c| is that of their shapes, whatever their phases at
// the pulses are.
type cycles struct {
	fft    *lanes.FFT
	window []float64
	bins   []float64             // of four frames
	latest [cycleRing]cycle      // of the pulses, at i modulo cycleRing
	run    []int                 // measured pulses in a row up to this one
	pairs  [len(cycleLags)]table // at each lag a row for two pulses, by the first; not set where one was not measured
}

// The columns of a row of pairs: 1 − Re c and 1 − |c| of each band, and Re c of its halves.
const (
	cycleWave  = 0
	cycleShape = cycleCount
	cycleHalf  = 2 * cycleCount
	cycleWidth = 4 * cycleCount
)

// A cycle is the spectrum round a pulse: the real and the imaginary parts of the bins of all
// bands, and 1 over the root of the energy of each half of a band and of each band.
type cycle struct {
	re, im [cycleBins]float64
	halves [2 * cycleCount]float64
	bands  [cycleCount]float64
}

func newCycles() *cycles {
	return &cycles{fft: lanes.NewFFT(cycleFFT), window: dsp.PeriodicHann(cycleFrame), bins: make([]float64, 2*lanes.Count*(cycleFFT/2+1))}
}

// measure measures x at the pulses, given in seconds, that stand between two periods in
// range.
func (c *cycles) measure(x, pulses []float64) {
	c.run = sized(c.run, len(pulses))
	for q := range c.pairs {
		c.pairs[q].reset(len(pulses), cycleWidth)
	}
	var waiting [lanes.Count]int // pulses
	count := 0
	for i := range pulses {
		c.run[i] = 0
		if _, _, ok := bothPeriods(pulses, i); !ok {
			continue
		}
		if from := cycleStart(pulses[i]); from < 0 || from+cycleFrame > len(x) {
			continue
		}
		c.run[i] = c.run[i-1] + 1
		waiting[count] = i
		if count++; count == lanes.Count {
			c.transform(x, pulses, waiting[:])
			count = 0
		}
	}
	if count > 0 {
		c.transform(x, pulses, waiting[:count])
	}
}

// cycleStart is the first sample of the frame round a pulse at the time in seconds.
func cycleStart(pulse float64) int { return int(math.Round(pulse*rateHz)) - cycleFrame/2 }

// transform computes the spectra of x round the pulses at, one to four, and compares them
// with those before.
func (c *cycles) transform(x, pulses []float64, at []int) {
	var frames [lanes.Count][]float64
	for l := range frames {
		from := cycleStart(pulses[at[min(l, len(at)-1)]])
		frames[l] = x[from : from+cycleFrame]
	}
	c.fft.Load(&frames, c.window)
	c.fft.Coefficients(c.bins)
	for l, i := range at {
		offset := 2 * math.Pi / cycleFFT * (pulses[i]*rateHz - math.Round(pulses[i]*rateHz))
		v, u := math.Sincos(offset * float64(cycleBands[0]))
		sin, cos := math.Sincos(offset)
		x := &c.latest[i%cycleRing]
		for b := range cycleCount {
			var both float64
			for h := 2 * b; h < 2*b+2; h++ {
				var sum float64
				for k := cycleHalves[h]; k < cycleHalves[h+1]; k++ {
					p, q := c.bins[2*lanes.Count*k+l], c.bins[2*lanes.Count*k+lanes.Count+l]
					sum += p*p + q*q
					x.re[k-cycleBands[0]], x.im[k-cycleBands[0]] = p*u-q*v, p*v+q*u
					u, v = u*cos-v*sin, u*sin+v*cos
				}
				x.halves[h] = 1 / math.Sqrt(sum)
				both += sum
			}
			x.bands[b] = 1 / math.Sqrt(both)
		}
		for q, lag := range cycleLags {
			if c.run[i] > lag {
				c.compare(q, i-lag, i)
			}
		}
	}
}

// compare sets the row of the pulses i and j, which lie cycleLags[q] apart.
func (c *cycles) compare(q, i, j int) {
	x, y := &c.latest[i%cycleRing], &c.latest[j%cycleRing]
	row := (*[cycleWidth]float64)(c.pairs[q].tracks[i])
	for b := range cycleCount {
		var re, im float64
		for h := 2 * b; h < 2*b+2; h++ {
			var half float64
			for k := cycleHalves[h] - cycleBands[0]; k < cycleHalves[h+1]-cycleBands[0]; k++ {
				half += x.re[k]*y.re[k] + x.im[k]*y.im[k]
				im += x.im[k]*y.re[k] - x.re[k]*y.im[k]
			}
			re += half
			row[cycleHalf+h] = half * x.halves[h] * y.halves[h]
		}
		scale := x.bands[b] * y.bands[b]
		row[cycleWave+b] = 1 - re*scale
		row[cycleShape+b] = 1 - math.Sqrt(re*re+im*im)*scale
	}
}

// means returns the means of the columns of pairs[q] over the pulses from lo to before hi, NaN
// of fewer than leastPairs.
func (c *cycles) means(q, lo, hi int) (mean [cycleWidth]float64) {
	n := 0
	for i := lo; i+cycleLags[q] < hi; i++ {
		// Of samples that are all 0, which the front end leaves nowhere, nothing is defined.
		if row := c.pairs[q].tracks[i]; c.run[i+cycleLags[q]] > cycleLags[q] && !math.IsNaN(row[cycleWave]) {
			dsp.Add(mean[:], row)
			n++
		}
	}
	for k := range mean {
		if mean[k] /= float64(n); n < leastPairs {
			mean[k] = math.NaN()
		}
	}
	return mean
}

// cycle fills cycle.*. With D the mean of 1 − Re c over the pulses, of each band: ln D from
// one pulse to the next; ln of how much D grows from there to the fifth, which noise that is
// new in each cycle does not change; and how much ln D grows to the tenth. Then the same of
// 1 − |c|. Then the decays: of each half of a band ln of the mean of Re c over ten pulses,
// and over twenty, less that over one. Such noise multiplies Re c by the share of the voice
// in the power, whatever the lag, and does not change these either.
func (v *vector) cycle(c *cycles, pulses []float64) {
	lo, hi := v.pulses(pulses)
	var mean [len(cycleLags)][cycleWidth]float64
	for q := range mean {
		mean[q] = c.means(q, lo, hi)
	}
	v.from("cycle.band1.wave_log")
	for b := range cycleCount {
		for _, k := range [...]int{cycleWave + b, cycleShape + b} {
			one, five, ten := mean[0][k], mean[1][k], mean[2][k]
			first := math.Log(one + leastChange)
			v.put(first, math.Log(max(five-one, 0)+leastDrift), math.Log(ten+leastChange)-first)
		}
	}
	for k := cycleHalf; k < cycleWidth; k++ {
		kept := func(q int) float64 { return math.Log(max(mean[q][k], leastKept)) }
		one := kept(0)
		v.put(kept(2)-one, kept(3)-one)
	}
}
