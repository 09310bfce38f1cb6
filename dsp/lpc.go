package dsp

import "math"

// An LPC is a linear prediction of one frame at a time by the autocorrelation
// method (J. Makhoul, "Linear prediction: a tutorial review", Proc. IEEE 63,
// 1975). With y the frame under a window, of n samples,
//
//	r[k] = Σ y[j]·y[j+k],  r[0] multiplied by the white noise correction,
//	A(z) = 1 + a[1]·z⁻¹ + … + a[p]·z⁻ᵖ from r by [Levinson],
//	e[j] = y[j] + Σ a[k]·y[j−k],  p ≤ j < n.
//
// It owns its scratch, allocates nothing after [NewLPC], and is not safe for
// concurrent use.
type LPC struct {
	window     []float64
	correction float64
	padded     []float64 // the windowed frame, and as many zeros as the order
	r, a, k    []float64
	taps       []float64 // a reversed
	power      float64
}

// NewLPC returns an LPC of the given order for frames as long as the window,
// which it copies. r[0] is multiplied by correction, which adds white noise to
// the model: 1 + 1e-9 keeps the recursion stable, 1.0005 adds noise 33 dB below
// the signal. NewLPC panics unless 1 ≤ order < len(window) and
// 1 ≤ correction ≤ 2.
func NewLPC(window []float64, order int, correction float64) *LPC {
	n := len(window)
	if order < 1 || order >= n || !(correction >= 1 && correction <= 2) {
		panic("dsp: linear prediction of an impossible order or with an impossible correction")
	}
	return &LPC{
		window: append([]float64(nil), window...), correction: correction, padded: make([]float64, n+order),
		r: make([]float64, order+1), a: make([]float64, order+1), k: make([]float64, order), taps: make([]float64, order+1),
	}
}

// Fit fits the prediction to a frame, which is not changed, and reports whether
// there is one: not of silence, nor of a frame with a NaN or infinite sample.
// It panics unless the frame is as long as the window.
func (l *LPC) Fit(frame []float64) bool {
	n := len(l.window)
	if len(frame) != n {
		panic("dsp: linear prediction of a frame of the wrong length")
	}
	product(l.padded[:n], frame, l.window, hasAVX)
	correlate(l.r, l.padded[:n], l.padded, hasAVX)
	l.power = l.r[0]
	l.r[0] *= l.correction
	return !math.IsNaN(Levinson(l.a, l.k, l.r))
}

// Power is Σ y² of the latest frame, without the correction.
func (l *LPC) Power() float64 { return l.power }

// Coefficients returns 1, a[1], …, a[p] of the latest frame, 1, 0, … if it has
// no prediction. They are valid until the next [LPC.Fit] and must not be
// changed.
func (l *LPC) Coefficients() []float64 { return l.a }

// Reflections returns the p reflection coefficients of the latest frame, each of
// a magnitude of at most 1 but for rounding, all 0 if it has no prediction. They
// are valid until the next [LPC.Fit] and must not be changed.
func (l *LPC) Reflections() []float64 { return l.k }

// Residual computes the n − p samples e[p] … e[n−1] of the latest frame into dst
// and returns it; a nil dst is allocated. The first p samples of the frame only
// serve to predict. It panics if dst has another length.
func (l *LPC) Residual(dst []float64) []float64 {
	n, p := len(l.window), len(l.k)
	if dst == nil {
		dst = make([]float64, n-p)
	}
	if len(dst) != n-p {
		panic("dsp: residual has the wrong length")
	}
	for i, v := range l.a {
		l.taps[p-i] = v
	}
	correlate(dst, l.taps, l.padded[:n], hasAVX)
	return dst
}
