package spoof

import (
	"math"
	"slices"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/lanes"
)

// frameCount is how many frames of size samples every hop lie in n samples, at
// least one.
func frameCount(n, hop, size int) int { return max((n-size)/hop+1, 1) }

// voicedAt says whether the frame of f0 nearest to a sample is voiced.
func voicedAt(f0 []float64, sample int) bool {
	i := (sample + hopLen/2) / hopLen
	return i < len(f0) && f0[i] > 0
}

// A table holds tracks of one length in one piece of memory.
type table struct {
	tracks [][]float64
	values []float64
}

// reset makes the table n tracks of the given length. Their values are undefined.
func (t *table) reset(n, length int) {
	t.tracks, t.values = sized(t.tracks, n), sized(t.values, n*length)
	for i := range t.tracks {
		t.tracks[i] = t.values[i*length : (i+1)*length : (i+1)*length]
	}
}

// sized returns n elements, in the memory of s if it has that many. Their values
// are undefined.
func sized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// activeShare is how far below the 95th percentile the power of an active
// frame may lie, as a ratio: 32 dB.
var activeShare = math.Pow(10, -3.2)

// An activity says which frames are active.
type activity struct {
	power []float64 // of each frame; set by the user of the activity
	on    []bool
	order []float64 // scratch
}

// reset sizes the activity for n frames.
func (a *activity) reset(n int) { a.power, a.on = sized(a.power, n), sized(a.on, n) }

// decide sets on from power.
func (a *activity) decide() {
	floor := a.percentile95() * activeShare
	for i, p := range a.power {
		a.on[i] = p > floor
	}
}

// percentile95 is the 95th percentile of the power.
func (a *activity) percentile95() float64 {
	a.order = append(a.order[:0], a.power...)
	return dsp.PercentileInPlace(a.order, 95)
}

// anyOf says whether one of the frames from t on that are measured at once is on.
func anyOf(on []bool, t int) bool { return slices.Contains(on[t:min(t+lanes.Count, len(on))], true) }

// meanSD returns mean and sample standard deviation: NaN of too few values.
func meanSD(x []float64) (mean, dev float64) {
	mean, m2, _, _ := dsp.CentralMoments(x)
	n := float64(len(x))
	return mean, math.Sqrt(m2 * n / (n - 1)) // 0/0 is NaN
}

// deviation is the sample standard deviation, NaN of fewer than two values.
func deviation(x []float64) float64 {
	_, dev := meanSD(x)
	return dev
}

// shape returns the standard deviation of x (divisor n) and its skewness.
func shape(x []float64) (dev, skew float64) {
	_, m2, m3, _ := dsp.CentralMoments(x)
	dev = math.Sqrt(m2)
	return dev, m3 / (dev * dev * dev)
}
