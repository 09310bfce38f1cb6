package augment

import (
	"math"
	"math/cmplx"
	"math/rand/v2"

	"github.com/voicescreen/voicescreen/dsp"
)

// A vocoder takes a voice apart into pitch, spectral envelope and
// aperiodicity, in frames of 5 ms, after WORLD (Morise, Yokomori & Ozawa 2016).
type vocoder struct {
	rate, n  int // Hz, FFT length
	hop      float64
	f0       []float64        // Hz of each frame, 0 where unvoiced
	envelope [][]float64      // log power of a period, n/2+1 bins a frame
	noise    [][bands]float64 // share of the power that is not periodic, by band
}

// bands is the number of bands of the aperiodicity, whose upper edges are
// bandEdges.
const bands = 5

var bandEdges = [bands]float64{1000, 2000, 3500, 5500, math.Inf(1)} // Hz

// newVocoder analyses x.
func newVocoder(x []float64, rate int) *vocoder {
	v := &vocoder{rate: rate, n: powerOfTwo(0.064, rate), hop: 0.005 * float64(rate)}
	coarse := dsp.NewPitch(float64(rate), &dsp.PitchOptions{Strict: true}).Track(nil, x)
	fft := dsp.NewFFT(v.n)
	buf := make([]float64, v.n)
	power := make([]float64, v.n/2+1)
	for t := 0; float64(t)*v.hop < float64(len(x)); t++ {
		f := pitchAt(coarse, float64(t)/2)
		v.f0 = append(v.f0, f)
		centre := int(float64(t) * v.hop)
		v.frame(buf, x, centre, 3/positiveOr(f, 100))
		fft.Power(power, buf)
		v.envelope = append(v.envelope, v.smooth(fft, power, positiveOr(f, 100)))
		var share [bands]float64
		for b := range share {
			share[b] = 1
		}
		if f > 0 {
			v.frame(buf, x, centre, 4/f)
			share = v.aperiodicity(fft.Power(power, buf), f)
		}
		v.noise = append(v.noise, share)
	}
	return v
}

// positiveOr is f, or other if f is 0.
func positiveOr(f, other float64) float64 {
	if f > 0 {
		return f
	}
	return other
}

// pitchAt interpolates the track at frame t, between voiced frames only.
func pitchAt(f0 []float64, t float64) float64 {
	i := int(t)
	if i+1 >= len(f0) {
		return f0[len(f0)-1]
	}
	a, b, part := f0[i], f0[i+1], t-float64(i)
	switch {
	case a > 0 && b > 0:
		return (1-part)*a + part*b
	case part < 0.5:
		return a
	}
	return b
}

// frame copies so many seconds of x round centre to buf under a Hann window of
// unit energy.
func (v *vocoder) frame(buf, x []float64, centre int, seconds float64) {
	clear(buf)
	n := min(int(seconds*float64(v.rate)), v.n)
	var norm float64
	for i := range n {
		w := 0.5 - 0.5*math.Cos(2*math.Pi*(float64(i)+0.5)/float64(n))
		norm += w * w
		if j := centre - n/2 + i; j >= 0 && j < len(x) {
			buf[i] = w * x[j]
		}
	}
	for i := range n {
		buf[i] /= math.Sqrt(norm)
	}
}

// smooth is the log spectral envelope of a power spectrum: a running mean over
// ⅔ f, then the cepstrum under the lifter sinc(fτ)·(1.3 − 0.3·cos(2πfτ)), which
// takes out what repeats at f and makes up for the mean (CheapTrick, Morise
// 2015, eq. 8 to 10, with q1 = −0.15).
func (v *vocoder) smooth(fft *dsp.FFT, power []float64, f float64) []float64 {
	width := f * 2 / 3 * float64(v.n) / float64(v.rate) // bins
	half := max(int(width/2+0.5), 1)
	sum := make([]float64, len(power)+1)
	for k, p := range power {
		sum[k+1] = sum[k] + p
	}
	level := make([]complex128, len(power))
	for k := range power {
		a, b := max(k-half, 0), min(k+half+1, len(power))
		level[k] = complex(math.Log((sum[b]-sum[a])/float64(b-a)+1e-14), 0)
	}
	c := fft.Sequence(nil, level)
	for q := 1; q <= v.n/2; q++ {
		x := f * float64(q) / float64(v.rate)
		lift := math.Sin(math.Pi*x) / (math.Pi * x) * (1.3 - 0.3*math.Cos(2*math.Pi*x))
		c[q] *= lift
		if q < v.n/2 {
			c[v.n-q] *= lift
		}
	}
	fft.Coefficients(level, c)
	out := make([]float64, len(power))
	for k, l := range level {
		out[k] = real(l)
	}
	return out
}

// aperiodicity is 1 less the normalised autocorrelation of each band at the
// period of f, from the power spectrum of four periods.
func (v *vocoder) aperiodicity(power []float64, f float64) (share [bands]float64) {
	b := 0
	var periodic, all float64
	flush := func() {
		share[b] = 1
		if all > 0 {
			share[b] = min(max(1-1.15*periodic/all, 0.001), 1) // 1.15: the window's own at a quarter of its length
		}
		periodic, all = 0, 0
	}
	for k, p := range power {
		hz := float64(k*v.rate) / float64(v.n)
		if hz > bandEdges[b] {
			flush()
			b++
		}
		periodic += p * math.Cos(2*math.Pi*hz/f)
		all += p
	}
	for ; b < bands; b++ {
		flush()
	}
	return share
}

// shares are the square roots of the periodic and the noisy share of every bin
// of frame t.
func (v *vocoder) shares(t, k int) (periodic, noisy float64) {
	hz := float64(k*v.rate) / float64(v.n)
	b := 0
	for hz > bandEdges[b] {
		b++
	}
	s := v.noise[t][b]
	return math.Sqrt(1 - s), math.Sqrt(s)
}

// warp moves the formants by the factor.
func (v *vocoder) warp(factor float64) {
	for t, e := range v.envelope {
		moved := make([]float64, len(e))
		for k := range moved {
			from := float64(k) / factor
			i := min(int(from), len(e)-2)
			part := min(from-float64(i), 1)
			moved[k] = (1-part)*e[i] + part*e[i+1]
		}
		v.envelope[t] = moved
	}
}

// pulses synthesises n samples as WORLD does: at each period the minimum-phase
// response of the envelope to a pulse, if voice, and to a period of noise.
func (v *vocoder) pulses(n int, voice bool, rng *rand.Rand) []float64 {
	y := make([]float64, n+v.n)
	fft := dsp.NewFFT(v.n)
	noise, out := make([]float64, v.n), make([]float64, v.n)
	spectrum := make([]complex128, v.n/2+1)
	for at := 0.0; at < float64(n); {
		t := min(int(at/v.hop+0.5), len(v.f0)-1)
		period := v.hop
		if v.f0[t] > 0 {
			period = float64(v.rate) / v.f0[t]
		}
		h := v.minimumPhase(fft, v.envelope[t])
		clear(noise)
		for i := range min(int(period+0.5), v.n) {
			noise[i] = rng.NormFloat64()
		}
		fft.Coefficients(spectrum, noise)
		part := at - math.Floor(at)
		for k := range h {
			p, a := v.shares(t, k)
			pulse := cmplx.Rect(p*math.Sqrt(period), -2*math.Pi*float64(k)*part/float64(v.n))
			if v.f0[t] == 0 || !voice {
				pulse = 0
			}
			h[k] *= pulse + complex(a, 0)*spectrum[k]
		}
		fft.Sequence(out, h)
		for i, s := range out {
			y[int(at)+i] += s
		}
		at += period
	}
	return y[:n]
}

// minimumPhase is the minimum-phase spectrum of a log power envelope, by its
// folded cepstrum (Oppenheim & Schafer).
func (v *vocoder) minimumPhase(fft *dsp.FFT, level []float64) []complex128 {
	h := make([]complex128, len(level))
	for k, l := range level {
		h[k] = complex(l/2, 0)
	}
	c := fft.Sequence(nil, h)
	for q := 1; q < v.n/2; q++ {
		c[q] *= 2
		c[v.n-q] = 0
	}
	fft.Coefficients(h, c)
	for k, z := range h {
		h[k] = cmplx.Exp(z)
	}
	return h
}
