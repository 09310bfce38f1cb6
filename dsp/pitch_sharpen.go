package dsp

import "math"

// The long window averages F0 over time: it damps a movement at 5.5 Hz by 12 %.
// sharpenTaps reverse that up to 6 Hz, faster than a voluntary movement of pitch,
// and average out noise above. With h the taps at −3 … 3 frames they minimise
//
//	mean over 0 … 6 Hz of (H(f)·S(f) − 1)² + 1e-5·hᵀRh,  H(0) = 1,
//
// S being the transform of the squared Hann window of 60 ms, and R the
// correlation of the noise in two frames, which is the overlap of their squared
// windows, plus 0.3 of independent noise. On the reference contours the median
// error falls from 0.8 to 0.2 cent clean, and from 2.4 to 2.0 cent at 0 dB.
var sharpenTaps = [sharpenReach + 1]float64{0.418, 0.342, 0.062, -0.113}

const (
	sharpenReach = 3
	// sharpenFloor is the pitch floor in Hz to whose window sharpenTaps belong.
	sharpenFloor = 50
	// sharpenJump is the largest distance in octaves between a frame and its six
	// neighbours on a smooth contour; chosen.
	sharpenJump = 0.15
)

// sharpen applies sharpenTaps to log f0 wherever the contour is voiced and
// smooth, in place.
func (p *Pitch) sharpen(f0 []float64) {
	if p.opts.Floor != sharpenFloor {
		return
	}
	before := append(p.path.quartile[:0], f0...) // scratch
	p.path.quartile = before
	for i, f := range before {
		if f > 0 {
			before[i] = math.Log2(f)
		} else {
			before[i] = math.NaN()
		}
	}
	for i := sharpenReach; i < len(f0)-sharpenReach; i++ {
		l := before[i-sharpenReach : i+sharpenReach+1]
		c := l[sharpenReach]
		v, smooth := sharpenTaps[0]*c, c == c
		for k := 1; k <= sharpenReach && smooth; k++ {
			a, b := l[sharpenReach-k], l[sharpenReach+k]
			smooth = math.Abs(a-c) <= sharpenJump && math.Abs(b-c) <= sharpenJump // false for NaN
			v += sharpenTaps[k] * (a + b)
		}
		if smooth {
			f0[i] = math.Exp2(v)
		}
	}
}
