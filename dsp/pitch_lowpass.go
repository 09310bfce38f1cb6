package dsp

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

const (
	// lowpassTop is the attenuation of the Gaussian at the pitch ceiling; it
	// makes fc = 800/√(−2·ln 0.03) = 302 Hz.
	lowpassTop = 0.03
	// firstRate and lastRate are the rates in Hz aimed at by the two stages.
	// Above 1.2 kHz the Gaussian leaves less than −68 dB, above half of
	// lastRate less than −90 dB.
	firstRate, lastRate = 5512.5, 2756.25
	// lowpassTails is the length of the Gaussian's response on each side in
	// standard deviations; what is cut off is below −130 dB.
	lowpassTails = 5.5
)

// A lowpass filters with a Gaussian exp(−½(f/fc)²) and decimates. The first
// stage is a threefold moving average over d1 samples, whose zeros are at the
// frequencies that the decimation folds. The second stage, at the lower rate, is
// the Gaussian divided by the response of the first. Together they are the Gaussian.
type lowpass struct {
	sr     float64
	d1, d2 int
	box    []float64 // 3·d1 − 2 taps
	gauss  []float64 // odd number of taps, at sr/d1
	offset float64   // time in samples of x of the first output
	stage  []float64 // block of the first stage's output
	y      []float64
}

// lowpassBlock is the number of first-stage samples that are computed and kept at
// a time. Chosen to fit a first-level cache.
const lowpassBlock = 1024

func newLowpass(sr, ceiling float64) *lowpass {
	l := &lowpass{sr: sr}
	l.d1 = max(1, int(math.Round(sr/firstRate)))
	mid := sr / float64(l.d1)
	l.d2 = max(1, int(math.Round(mid/lastRate)))
	l.box = boxes(l.d1)
	fc := ceiling / math.Sqrt(-2*math.Log(lowpassTop))
	half := int(math.Ceil(lowpassTails * mid / (2 * math.Pi * fc)))
	l.gauss = make([]float64, 2*half+1)
	// h[k] = ∫ G(f)/B(f)·cos(2πfk/mid) df over −mid/2 … mid/2, by the
	// trapezoidal rule; the integrand is negligible at the ends.
	const steps = 512
	for i := 0; i < steps; i++ {
		f := (float64(i)/steps - 0.5) * mid
		b := 1.0
		if u := math.Pi * f / sr; u != 0 && l.d1 > 1 {
			b = math.Sin(u*float64(l.d1)) / (float64(l.d1) * math.Sin(u))
		}
		g := math.Exp(-0.5*f*f/(fc*fc)) / (b * b * b) / steps
		for k := range l.gauss {
			l.gauss[k] += g * math.Cos(2*math.Pi*f*float64(k-half)/mid)
		}
	}
	// Output j is centred on first-stage sample j·d2, whose own centre is
	// input sample j·d1·d2 + offset.
	l.offset = float64((len(l.box)-1)%2) / 2
	l.stage = make([]float64, lowpassBlock+2*half)
	return l
}

// boxes is the response of three moving averages over d samples.
func boxes(d int) []float64 {
	h := []float64{1}
	for range 3 {
		next := make([]float64, len(h)+d-1)
		for i, v := range h {
			for j := range d {
				next[i+j] += v / float64(d)
			}
		}
		h = next
	}
	return h
}

// rate is the rate of the output in Hz.
func (l *lowpass) rate() float64 { return l.sr / float64(l.d1*l.d2) }

// filter returns x less mean, low-passed and decimated. x is taken as mean outside.
// Output j is centred on the sample j·d1·d2 + offset of x. The result is valid
// until the next call.
func (l *lowpass) filter(x []float64, mean float64) []float64 {
	n := (len(x)-1)/(l.d1*l.d2) + 1
	l.y = sized(l.y, n)
	half := len(l.gauss) / 2
	per := lowpassBlock / l.d2 // outputs of one block
	for j := 0; j < n; j += per {
		m := min(per, n-j)
		first := j*l.d2 - half
		block := l.stage[:(m-1)*l.d2+2*half+1]
		l.average(block, x, first, mean)
		for i := range m {
			l.y[j+i] = floats.Dot(l.gauss, block[i*l.d2:i*l.d2+len(l.gauss)])
		}
	}
	return l.y
}

// average computes the first stage's samples first, first+1, … into dst.
func (l *lowpass) average(dst, x []float64, first int, mean float64) {
	back := (len(l.box) - 1) / 2
	for i := range dst {
		at := (first+i)*l.d1 - back
		if at >= 0 && at+len(l.box) <= len(x) {
			dst[i] = floats.Dot(l.box, x[at:at+len(l.box)]) - mean
			continue
		}
		var s float64
		for k, b := range l.box {
			if j := at + k; j >= 0 && j < len(x) {
				s += b * (x[j] - mean)
			}
		}
		dst[i] = s
	}
}
