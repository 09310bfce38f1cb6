package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/lanes"
)

const (
	periodFrame = 640  // samples, 40 ms: two periods of 50 Hz
	periodFFT   = 1024 // points: no lag wraps round
	minLag      = 40   // samples, 400 Hz
	maxLag      = 230  // samples, 70 Hz
	voicedPeak  = 0.5  // least normalised autocorrelation of a voiced frame, as Boersma's (1993) voicing threshold
	voicedShare = 1e-3 // power of a voiced frame, as a share of the 95th percentile: −30 dB
	maxStep     = 0.25 // octaves from frame to frame; more is an error of the track
	maxBend     = 0.2  // octaves, likewise
)

// periods is the autocorrelation pitch track (Boersma 1993): the highest peak of
// the autocorrelation of the windowed frame over that of the window, without a
// path search, whose smoothing would remove what is measured.
type periods struct {
	correlation *lanes.Autocorrelation
	window      []float64
	edges       [len(periodBands)]int // of periodBands, in bins
	pad, frame  []float64

	pitch  []float64 // log2 of the frequency in Hz; 0 in frames without enough power
	height []float64 // of the autocorrelation peak, likewise
	frames activity  // on says whether the frame is voiced
	bands  table     // normalised autocorrelation of each band at the lag, in voiced frames
	floor  float64   // power of a voiced frame
}

func newPeriods() *periods {
	w := dsp.PeriodicHann(periodFrame)
	p := &periods{
		correlation: lanes.NewAutocorrelation(w, periodFFT, maxLag+1), window: w,
		pad: make([]float64, periodFrame), frame: make([]float64, periodFrame),
	}
	for b, f := range periodBands {
		p.edges[b] = int(f * periodFFT / rateHz)
	}
	return p
}

// measure computes the tracks of x.
func (p *periods) measure(x []float64) {
	n := frameCount(len(x), hopLen, periodFrame)
	p.pitch, p.height = sized(p.pitch, n), sized(p.height, n)
	p.frames.reset(n)
	p.bands.reset(len(periodBands)-1, n)
	for t := range n {
		dsp.Multiply(p.frame, dsp.FrameAt(p.pad, x, t*hopLen), p.window)
		p.frames.power[t] = dsp.Dot(p.frame, p.frame)
	}
	p.floor = p.frames.percentile95() * voicedShare
	for t, power := range p.frames.power {
		p.pitch[t], p.height[t] = 0, 0
		p.frames.on[t] = power > p.floor
	}
	for t := 0; t < n; t += lanes.Count {
		if anyOf(p.frames.on, t) {
			p.group(x, t)
		}
	}
	for t, h := range p.height {
		p.frames.on[t] = h > voicedPeak
	}
}

// group measures those of four frames from t on that are on.
func (p *periods) group(x []float64, t int) {
	n := len(p.pitch)
	p.correlation.Measure(x, t*hopLen, hopLen, n-t)
	r := p.correlation.R
	top := lanes.Highest(r[lanes.Count*minLag : lanes.Count*maxLag])
	var sums [len(periodBands) - 1][lanes.Count]float64
	for b := range sums {
		sums[b] = lanes.Sum(p.correlation.Spectrum.Bins(p.edges[b], p.edges[b+1]))
	}
	for l := range min(lanes.Count, n-t) {
		if !p.frames.on[t+l] {
			continue
		}
		lag := minLag
		for r[lanes.Count*lag+l] < top[l] {
			lag++
		}
		around := [3]float64{r[lanes.Count*(lag-1)+l], top[l], r[lanes.Count*(lag+1)+l]}
		_, exact := dsp.PeakLag(around[:], 1, 2)
		height := top[l] / r[l]
		p.height[t+l], p.pitch[t+l] = height, math.Log2(rateHz/(float64(lag-1)+exact))
		if height > voicedPeak {
			for b, track := range p.bands.tracks {
				track[t+l] = p.correlation.Band(l, lag, p.edges[b], p.edges[b+1]) / sums[b][l]
			}
		}
	}
}

// leastPeriods is how many voiced frames pitch.* needs, 150 ms. Chosen: fewer
// have no dynamics to measure.
const leastPeriods = 15

// pitch fills pitch.*, amplitude.* and periodicity.*.
func (v *vector) pitch(p *periods) {
	lo, hi := v.frames(len(p.pitch), hopLen, periodFrame)
	voiced := p.frames.on[lo:hi]
	n := 0
	for _, on := range voiced {
		if on {
			n++
		}
	}
	if n < leastPeriods {
		return
	}
	v.pitchDynamics(p, lo, hi)
	v.from("periodicity.band1.mean")
	for _, track := range p.bands.tracks {
		v.put(meanSD(v.where(track[lo:hi], voiced)))
	}
	v.periodicities(p, lo, hi)
}

// pitchDynamics fills the features of pitchFeatures in their order, of the
// frames lo to before hi.
func (v *vector) pitchDynamics(p *periods, lo, hi int) {
	pitch, height, power, voiced := p.pitch[lo:hi], p.height[lo:hi], p.frames.power[lo:hi], p.frames.on[lo:hi]
	v.steps, v.bends, v.level, v.ratio = v.steps[:0], v.bends[:0], v.level[:0], v.ratio[:0]
	var changes, active int
	for i, on := range voiced {
		if i > 0 && on != voiced[i-1] {
			changes++
		}
		if power[i] > p.floor {
			active++
		}
		if !on {
			continue
		}
		r := min(max(height[i], 0.01), 0.999) // ±30 dB
		v.ratio = append(v.ratio, 10*math.Log10(r/(1-r)))
		if i == 0 || !voiced[i-1] {
			continue
		}
		if d := math.Abs(pitch[i] - pitch[i-1]); d < maxStep {
			v.steps = append(v.steps, d)
		}
		v.level = append(v.level, math.Abs(10*math.Log10(power[i]/power[i-1])))
		if i >= 2 && voiced[i-2] {
			if d := math.Abs(pitch[i] - 2*pitch[i-1] + pitch[i-2]); d < maxBend {
				v.bends = append(v.bends, d)
			}
		}
	}
	v.from("pitch.sd_oct")
	octaves := v.where(pitch, voiced)
	v.put(dsp.SD(octaves))
	v.put(dsp.PercentileInPlace(octaves, 95) - dsp.PercentileInPlace(octaves, 5))
	for _, x := range [...][]float64{v.steps, v.bends} {
		v.put(dsp.Mean(x))
		v.put(dsp.PercentileInPlace(x, 50), dsp.PercentileInPlace(x, 90))
	}
	v.put(meanSD(v.level))
	v.put(meanSD(v.ratio))
	v.put(dsp.PercentileInPlace(v.ratio, 10), dsp.PercentileInPlace(v.ratio, 90))
	v.put(float64(len(octaves))/float64(active), float64(changes)/float64(len(voiced)))
}
