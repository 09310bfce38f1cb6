package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/lanes"
)

// cycleBands are the edges of the bands whose cycles are compared, in bins of 62.5 Hz: from
// 62.5 to 7250 Hz. Chosen by the inner cells of the training among 5, 7, 9 and 11 bands.
var cycleBands = [...]int{1, 6, 12, 18, 26, 36, 50, 70, 92, 117}

// cycleLags are how many pulses two cycles that are compared lie apart. Further ones, from
// 2 to 20, and lags of equal time say nothing besides.
var cycleLags = [...]int{1, 5, 10}

const (
	cycleCount  = len(cycleBands) - 1
	cycleFrame  = 160  // samples, 10 ms, round a pulse; 6 to 15 ms are no better
	cycleFFT    = 256  // points
	cycleRing   = 16   // spectra that are kept: more than the longest lag
	leastChange = 1e-6 // of a mean of 1 − Re c
	leastDrift  = 2e-3 // of a difference of two; 0.0005 and 0.01 are no worse
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
	energy  table     // likewise, by bands
	run     []int     // measured pulses in a row up to this one
	wave    table     // 1 − Re c by the first of the two pulses; a track for each lag and band
	shape   table     // 1 − |c|, likewise
}

func newCycles() *cycles {
	c := &cycles{fft: lanes.NewFFT(cycleFFT), window: dsp.PeriodicHann(cycleFrame), bins: make([]float64, 2*lanes.Count*(cycleFFT/2+1))}
	c.spectra.reset(cycleRing, 2*(cycleBands[cycleCount]-cycleBands[0]))
	c.energy.reset(cycleRing, cycleCount)
	return c
}

// measure measures x at the pulses, given in seconds, that stand between two periods in
// range.
func (c *cycles) measure(x, pulses []float64) {
	n, tracks := len(pulses), len(cycleLags)*cycleCount
	c.run = sized(c.run, n)
	c.wave.reset(tracks, n)
	c.shape.reset(tracks, n)
	for i := range c.wave.values {
		c.wave.values[i], c.shape.values[i] = math.NaN(), math.NaN()
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
		for b := range energy {
			var sum float64
			for k := cycleBands[b]; k < cycleBands[b+1]; k++ {
				p, q := c.bins[2*lanes.Count*k+l], c.bins[2*lanes.Count*k+lanes.Count+l]
				sum += p*p + q*q
				re[k-cycleBands[0]], im[k-cycleBands[0]] = p*u-q*v, p*v+q*u
				u, v = u*cos-v*sin, u*sin+v*cos
			}
			energy[b] = sum
		}
		for q, lag := range cycleLags {
			if c.run[i] > lag {
				c.compare(q, i-lag, i)
			}
		}
	}
}

// compare sets wave and shape of the pulses i and j, which lie cycleLags[q] apart.
func (c *cycles) compare(q, i, j int) {
	x, y := c.spectra.tracks[i%cycleRing], c.spectra.tracks[j%cycleRing]
	xr, xi := x[:len(x)/2], x[len(x)/2:]
	yr, yi := y[:len(xr)], y[len(y)/2:]
	for b := range cycleCount {
		var re, im float64
		for k := cycleBands[b] - cycleBands[0]; k < cycleBands[b+1]-cycleBands[0]; k++ {
			re += xr[k]*yr[k] + xi[k]*yi[k]
			im += xi[k]*yr[k] - xr[k]*yi[k]
		}
		size := math.Sqrt(c.energy.tracks[i%cycleRing][b] * c.energy.tracks[j%cycleRing][b])
		c.wave.tracks[q*cycleCount+b][i] = 1 - re/size
		c.shape.tracks[q*cycleCount+b][i] = 1 - math.Sqrt(re*re+im*im)/size
	}
}

// cycle fills cycle.*. With D the mean of 1 − Re c over the pulses, of each band: ln D from
// one pulse to the next; ln of how much D grows from there to the fifth, which noise that is
// new in each cycle does not change; and how much ln D grows to the tenth. Then the same of
// 1 − |c|.
func (v *vector) cycle(c *cycles, pulses []float64) {
	lo, hi := v.pulses(pulses)
	v.from("cycle.band1.wave_log")
	for b := range cycleCount {
		for _, kind := range [...]*table{&c.wave, &c.shape} {
			var d [len(cycleLags)]float64
			for q, lag := range cycleLags {
				d[q] = math.NaN()
				if x := v.measured(kind.tracks[q*cycleCount+b][lo:max(hi-lag, lo)]); len(x) >= leastPairs {
					d[q] = dsp.Mean(x)
				}
			}
			first := math.Log(d[0] + leastChange)
			v.put(first, math.Log(max(d[1]-d[0], 0)+leastDrift), math.Log(d[2]+leastChange)-first)
		}
	}
}
