package models

import (
	"math"
	"slices"

	"github.com/voicescreen/voicescreen/dsp"
)

const (
	lpcOrder = 18  // two more than the rate in kHz: four formants a voice has below 8 kHz twice over
	lpcFrame = 480 // samples, 30 ms
	lpcHop   = 240
	// lpcNoise is the white-noise correction: r[0] is raised by 33 dB less.
	lpcNoise = 1.0005
)

// residual fills lpc.*: mean and standard deviation over the active frames of
// what residualMeasures lists: the log prediction gain, and of the residual at
// unit variance the log fourth moment, the magnitude of the skewness and the
// log peak. The sign of the skewness is the polarity of the microphone.
func (s *spoof) residual() {
	window := dsp.PeriodicHann(lpcFrame)
	n := max((len(s.x)-lpcFrame)/lpcHop+1, 1)
	frame := make([]float64, lpcFrame)
	power := make([]float64, n)
	for t := range power {
		windowed(frame, s.x, t*lpcHop, window)
		power[t] = dot(frame, frame)
	}
	on := active(power)
	tracks := make([][]float64, len(residualMeasures))
	var r [lpcOrder + 1]float64
	for t := range n {
		if !on[t] {
			continue
		}
		windowed(frame, s.x, t*lpcHop, window)
		for k := range r {
			r[k] = dot(frame[:lpcFrame-k], frame[k:])
		}
		r[0] *= lpcNoise
		a, ok := levinson(r)
		if !ok {
			continue
		}
		for i, v := range residualOf(frame, a, power[t]) {
			tracks[i] = append(tracks[i], v)
		}
	}
	s.from("lpc.gain_log.mean")
	for _, x := range tracks {
		s.put(mean(x))
	}
	for _, x := range tracks {
		s.put(sd(x))
	}
}

func dot(a, b []float64) float64 {
	var s float64
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

// levinson solves for the predictor x[n] ≈ Σ a[k]·x[n−1−k] of the
// autocorrelation r by the Levinson-Durbin recursion (Makhoul 1975). It is not
// ok if r is not that of a signal with power.
func levinson(r [lpcOrder + 1]float64) (a [lpcOrder]float64, ok bool) {
	e := r[0]
	for i := range lpcOrder {
		if !(e > 0) {
			return a, false
		}
		k := r[i+1]
		for j := range i {
			k -= a[j] * r[i-j]
		}
		k /= e
		next := a
		next[i] = k
		for j := range i {
			next[j] = a[j] - k*a[i-1-j]
		}
		a = next
		e *= 1 - k*k
	}
	return a, true
}

// residualOf measures the residual of one windowed frame.
func residualOf(frame []float64, a [lpcOrder]float64, power float64) []float64 {
	res := make([]float64, 0, lpcFrame)
	for i := lpcOrder; i < len(frame); i++ {
		past := frame[i-lpcOrder : i]
		e := frame[i]
		for k, c := range a {
			e -= c * past[lpcOrder-1-k]
		}
		res = append(res, e)
	}
	var s2, s3, s4, peak float64
	m := mean(res)
	for _, e := range res {
		d := e - m
		s2 += d * d
		s3 += d * d * d
		s4 += d * d * d * d
		peak = max(peak, math.Abs(e))
	}
	n := float64(len(res))
	dev := math.Sqrt(s2 / n)
	return []float64{math.Log(power / dot(res, res)), math.Log(s4 / n / (dev * dev * dev * dev)), math.Abs(s3) / n / (dev * dev * dev), math.Log(peak / dev)}
}

const (
	fineFrame = 2048 // samples: 7.8 Hz a bin
	fineHop   = 512
	fineBlock = 48 // frames of one mean, 1.6 s
	fineTrend = 31 // bins of the running median, 242 Hz
)

// fine fills fine.*: of the mean log power spectrum of blocks of fineBlock
// frames less its running median, per band: standard deviation, maximum, mean
// of the eight highest bins and skewness, averaged over the blocks. Blocks
// have one length because a mean over more frames is smoother, and the measure
// would tell the duration.
func (s *spoof) fine() {
	fft, window := dsp.NewFFT(fineFrame), dsp.PeriodicHann(fineFrame)
	n := max((len(s.x)-fineFrame)/fineHop+1, 1)
	frame, bins := make([]float64, fineFrame), make([]float64, fineFrame/2+1)
	log := make([]float64, len(bins))
	var sum [4 * (len(fineBands) - 1)]float64
	blocks := 0.0
	for start := 0; start == 0 || start+fineBlock <= n; start += fineBlock {
		clear(log)
		m := min(fineBlock, n-start)
		for t := start; t < start+m; t++ {
			windowed(frame, s.x, t*fineHop, window)
			fft.Power(bins, frame)
			for k, p := range bins {
				log[k] += math.Log(p+1e-12) / float64(m) // 1e-12 is far below the dither
			}
		}
		for i, v := range fineStats(detrend(log)) {
			sum[i] += v
		}
		blocks++
	}
	s.from("fine.band1.sd")
	for _, v := range sum {
		s.put(v / blocks)
	}
}

// detrend returns x less its running median over fineTrend values.
func detrend(x []float64) []float64 {
	y := make([]float64, len(x))
	var buf [fineTrend]float64
	for k := range x {
		w := buf[:copy(buf[:], x[max(k-fineTrend/2, 0):min(k+fineTrend/2+1, len(x))])]
		slices.Sort(w)
		y[k] = x[k] - w[len(w)/2]
	}
	return y
}

// fineStats returns the features of one spectrum.
func fineStats(x []float64) []float64 {
	const width = float64(spoofRate) / fineFrame
	var out []float64
	for b := range len(fineBands) - 1 {
		band := slices.Clone(x[int(fineBands[b]/width):int(fineBands[b+1]/width)])
		dev, skew := spread(band)
		slices.Sort(band)
		out = append(out, dev, band[len(band)-1], mean(band[len(band)-8:]), skew)
	}
	return out
}

// spread returns the standard deviation of x (divisor n) and its skewness.
func spread(x []float64) (dev, skew float64) {
	m := mean(x)
	var s2, s3 float64
	for _, v := range x {
		s2 += (v - m) * (v - m)
		s3 += (v - m) * (v - m) * (v - m)
	}
	n := float64(len(x))
	dev = math.Sqrt(s2 / n)
	return dev, s3 / n / (dev * dev * dev)
}
