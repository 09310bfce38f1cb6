package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

const (
	spoofPitchFrame = 640  // samples, 40 ms: two periods of 50 Hz
	spoofPitchFFT   = 1024 // no circular overlap for lags up to 384
	minLag          = 40   // samples, 400 Hz
	maxLag          = 230  // samples, 70 Hz
	voicedPeak      = 0.5  // least normalised autocorrelation of a voiced frame, as Boersma's (1993) voicing threshold
	maxStep         = 0.25 // octaves from frame to frame; more is an error of the track
	maxBend         = 0.2  // octaves, likewise
)

// periods is the pitch track of the deepfake extractor.
type periods struct {
	pitch  []float64 // log2 of the frequency in Hz
	height []float64 // of the autocorrelation peak
	power  []float64
	voiced []bool
	bands  [][]float64 // normalised autocorrelation of each band at the lag, in voiced frames
	floor  float64     // power of an active frame
}

// part is the track from frame lo to before hi.
func (p *periods) part(lo, hi int) *periods {
	q := &periods{pitch: p.pitch[lo:hi], height: p.height[lo:hi], power: p.power[lo:hi], voiced: p.voiced[lo:hi], floor: p.floor}
	for _, b := range p.bands {
		q.bands = append(q.bands, b[lo:hi])
	}
	return q
}

// pitch fills pitch.*, amplitude.* and periodicity.*.
func (v *vector) pitch(all *periods) {
	p := all.part(v.frames(len(all.pitch), spoofHop, spoofPitchFrame))
	var voiced int
	for _, on := range p.voiced {
		if on {
			voiced++
		}
	}
	// Fewer than fifteen voiced frames, 150 ms, say nothing about dynamics.
	if voiced < 15 {
		return
	}
	v.pitchDynamics(p)
	v.from("periodicity.band1.mean")
	for _, track := range p.bands {
		g := where(track, p.voiced)
		v.put(dsp.Mean(g), dsp.SD(g), dsp.Percentile(g, 10))
	}
}

// pitchDynamics fills the features of spoofPitchFeatures in their order.
func (v *vector) pitchDynamics(p *periods) {
	var steps, bends, level, hnr []float64
	var turns, on int
	for i, voiced := range p.voiced {
		if i > 0 && voiced != p.voiced[i-1] {
			turns++
		}
		if p.power[i] > p.floor {
			on++
		}
		if !voiced {
			continue
		}
		r := min(max(p.height[i], 0.01), 0.999) // ±30 dB
		hnr = append(hnr, 10*math.Log10(r/(1-r)))
		if i == 0 || !p.voiced[i-1] {
			continue
		}
		if d := math.Abs(p.pitch[i] - p.pitch[i-1]); d < maxStep {
			steps = append(steps, d)
		}
		level = append(level, math.Abs(10*math.Log10(p.power[i]/p.power[i-1])))
		if i >= 2 && p.voiced[i-2] {
			if d := math.Abs(p.pitch[i] - 2*p.pitch[i-1] + p.pitch[i-2]); d < maxBend {
				bends = append(bends, d)
			}
		}
	}
	v.from("pitch.sd_oct")
	lf := where(p.pitch, p.voiced)
	v.put(dsp.SD(lf), dsp.Percentile(lf, 95)-dsp.Percentile(lf, 5),
		dsp.Mean(steps), dsp.Percentile(steps, 50), dsp.Percentile(steps, 90),
		dsp.Mean(bends), dsp.Percentile(bends, 50), dsp.Percentile(bends, 90),
		dsp.Mean(level), dsp.SD(level), dsp.Mean(hnr), dsp.SD(hnr), dsp.Percentile(hnr, 10), dsp.Percentile(hnr, 90),
		float64(len(lf))/float64(on), float64(turns)/float64(len(p.voiced)))
}

// newPeriods computes the autocorrelation pitch (Boersma 1993): the highest peak of
// the autocorrelation of the windowed frame over that of the window, without a
// path search, whose smoothing would hide what is looked for.
func newPeriods(x []float64) *periods {
	fft, window := dsp.NewFFT(spoofPitchFFT), dsp.PeriodicHann(spoofPitchFrame)
	n := frameCount(x, spoofHop, spoofPitchFrame)
	p := &periods{
		pitch: make([]float64, n), height: make([]float64, n), power: make([]float64, n),
		voiced: make([]bool, n), bands: newTracks(len(periodBands)-1, n),
	}
	frame, bins := make([]float64, spoofPitchFFT), make([]float64, spoofPitchFFT/2+1)
	spectrum := make([]complex128, spoofPitchFFT/2+1)
	autocorrelate := func(dst []float64) {
		fft.Power(bins, frame)
		for k, b := range bins {
			spectrum[k] = complex(b, 0)
		}
		fft.Sequence(dst, spectrum)
	}
	own, ac := make([]float64, spoofPitchFFT), make([]float64, spoofPitchFFT)
	copy(frame, window)
	autocorrelate(own)
	for t := range n {
		windowed(frame, x, t*spoofHop, window)
		autocorrelate(ac)
		p.power[t] = ac[0]
		for i := range maxLag + 2 {
			ac[i] *= own[0] / own[i]
		}
		lag, exact, height := highestLag(ac)
		p.height[t] = height / ac[0]
		if p.height[t] > voicedPeak {
			p.measureBands(t, bins, lag, own[0]/own[lag])
		}
		p.pitch[t] = math.Log2(spoofRate / exact)
	}
	p.floor = dsp.Percentile(p.power, 95) * 1e-3
	for t := range n {
		p.voiced[t] = p.height[t] > voicedPeak && p.power[t] > p.floor
	}
	return p
}

// highestLag returns the lag of the highest autocorrelation, that lag refined
// by a parabola, and its height.
func highestLag(ac []float64) (lag int, exact, height float64) {
	lag = minLag
	for i := minLag; i < maxLag; i++ {
		if ac[i] > ac[lag] {
			lag = i
		}
	}
	a, b, c := ac[lag-1], ac[lag], ac[lag+1]
	exact = float64(lag)
	if curve := a - 2*b + c; curve < 0 {
		exact += min(max(0.5*(a-c)/curve, -1), 1)
	}
	return lag, exact, b
}

// measureBands sets the normalised autocorrelation of each band of frame t at
// the lag, by the Wiener-Khinchin theorem from the power spectrum within the band.
func (p *periods) measureBands(t int, bins []float64, lag int, correction float64) {
	const width = float64(spoofRate) / spoofPitchFFT
	for b := range p.bands {
		var r, all float64
		for k := int(periodBands[b] / width); k < int(periodBands[b+1]/width); k++ {
			r += bins[k] * cosines[k*lag%spoofPitchFFT]
			all += bins[k]
		}
		p.bands[b][t] = r / all * correction
	}
}

// cosines holds one turn of the cosine in spoofPitchFFT steps.
var cosines = func() (c [spoofPitchFFT]float64) {
	for i := range c {
		c[i] = math.Cos(2 * math.Pi * float64(i) / spoofPitchFFT)
	}
	return c
}()
