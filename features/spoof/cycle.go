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
	fft     *lanes.FFT
	window  []float64
	bins    []float64 // of four frames
	spectra table     // of the latest pulses, at i modulo cycleRing: the real and then the imaginary parts of the bins of all bands
	energy  table     // likewise, by halves of bands
	run     []int     // measured pulses in a row up to this one
	wave    table     // 1 − Re c by the first of the two pulses; a track for each lag and band
	shape   table     // 1 − |c|, likewise
	halves  table     // Re c of the halves of the bands, likewise
}

func newCycles() *cycles {
	c := &cycles{fft: lanes.NewFFT(cycleFFT), window: dsp.PeriodicHann(cycleFrame), bins: make([]float64, 2*lanes.Count*(cycleFFT/2+1))}
	c.spectra.reset(cycleRing, 2*(cycleBands[cycleCount]-cycleBands[0]))
	c.energy.reset(cycleRing, 2*cycleCount)
	return c
}

// measure measures x at the pulses, given in seconds, that stand between two periods in
// range.
func (c *cycles) measure(x, pulses []float64) {
	n, tracks := len(pulses), len(cycleLags)*cycleCount
	c.run = sized(c.run, n)
	c.wave.reset(tracks, n)
	c.shape.reset(tracks, n)
	c.halves.reset(2*tracks, n)
	for _, t := range [...]*table{&c.wave, &c.shape, &c.halves} {
		for i := range t.values {
			t.values[i] = math.NaN()
		}
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
		row, energy := c.spectra.tracks[i%cycleRing], c.energy.tracks[i%cycleRing]
		re, im := row[:len(row)/2], row[len(row)/2:]
		for h := range energy {
			var sum float64
			for k := cycleHalves[h]; k < cycleHalves[h+1]; k++ {
				p, q := c.bins[2*lanes.Count*k+l], c.bins[2*lanes.Count*k+lanes.Count+l]
				sum += p*p + q*q
				re[k-cycleBands[0]], im[k-cycleBands[0]] = p*u-q*v, p*v+q*u
				u, v = u*cos-v*sin, u*sin+v*cos
			}
			energy[h] = sum
		}
		for q, lag := range cycleLags {
			if c.run[i] > lag {
				c.compare(q, i-lag, i)
			}
		}
	}
}

// compare sets wave, shape and halves of the pulses i and j, which lie cycleLags[q] apart.
func (c *cycles) compare(q, i, j int) {
	x, y := c.spectra.tracks[i%cycleRing], c.spectra.tracks[j%cycleRing]
	xr, xi := x[:len(x)/2], x[len(x)/2:]
	yr, yi := y[:len(xr)], y[len(y)/2:]
	xe, ye := c.energy.tracks[i%cycleRing], c.energy.tracks[j%cycleRing]
	for b := range cycleCount {
		var re, im float64
		for h := 2 * b; h < 2*b+2; h++ {
			var half float64
			for k := cycleHalves[h] - cycleBands[0]; k < cycleHalves[h+1]-cycleBands[0]; k++ {
				half += xr[k]*yr[k] + xi[k]*yi[k]
				im += xi[k]*yr[k] - xr[k]*yi[k]
			}
			re += half
			c.halves.tracks[2*q*cycleCount+h][i] = half / math.Sqrt(xe[h]*ye[h])
		}
		size := math.Sqrt((xe[2*b] + xe[2*b+1]) * (ye[2*b] + ye[2*b+1]))
		c.wave.tracks[q*cycleCount+b][i] = 1 - re/size
		c.shape.tracks[q*cycleCount+b][i] = 1 - math.Sqrt(re*re+im*im)/size
	}
}

// cycle fills cycle.*. With D the mean of 1 − Re c over the pulses, of each band: ln D from
// one pulse to the next; ln of how much D grows from there to the fifth, which noise that is
// new in each cycle does not change; and how much ln D grows to the tenth. Then the same of
// 1 − |c|. Then the decays: of each half of a band ln of the mean of Re c over ten pulses,
// and over twenty, less that over one. Such noise multiplies Re c by the share of the voice
// in the power, whatever the lag, and does not change these either.
func (v *vector) cycle(c *cycles, pulses []float64) {
	lo, hi := v.pulses(pulses)
	mean := func(t *table, count, q, b int) float64 {
		x := v.measured(t.tracks[q*count+b][lo:max(hi-cycleLags[q], lo)])
		if len(x) < leastPairs {
			return math.NaN()
		}
		return dsp.Mean(x)
	}
	v.from("cycle.band1.wave_log")
	for b := range cycleCount {
		for _, kind := range [...]*table{&c.wave, &c.shape} {
			one, five, ten := mean(kind, cycleCount, 0, b), mean(kind, cycleCount, 1, b), mean(kind, cycleCount, 2, b)
			first := math.Log(one + leastChange)
			v.put(first, math.Log(max(five-one, 0)+leastDrift), math.Log(ten+leastChange)-first)
		}
	}
	for h := range 2 * cycleCount {
		kept := func(q int) float64 { return math.Log(max(mean(&c.halves, 2*cycleCount, q, h), leastKept)) }
		one := kept(0)
		v.put(kept(2)-one, kept(3)-one)
	}
}
