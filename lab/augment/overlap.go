package augment

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/voicescreen/voicescreen/dsp"
)

// resampledPitch moves pitch and formants by one to seven semitones, as sox
// and many applications do: WSOLA to another length, resampling back.
func resampledPitch(x []float64, rate int, rng *rand.Rand) []float64 {
	factor := semitones(1, 7, rng)
	y := wsola(x, factor, rate, 0.02+0.06*rng.Float64())
	return fitted(resized(y, 1/factor), len(x))
}

// wsola makes x longer by the factor: windows of the given length that overlap
// by half, each taken where it is most like the continuation of the last,
// within a quarter of the window of where it belongs (Verhelst & Roelands
// 1993).
func wsola(x []float64, factor float64, rate int, seconds float64) []float64 {
	hop := max(int(seconds*float64(rate)/2), 8)
	window := dsp.PeriodicHann(2 * hop)
	y := make([]float64, int(float64(len(x))*factor))
	frame, next := make([]float64, 2*hop), make([]float64, 2*hop)
	last := 0
	for t := -hop; t < len(y); t += hop {
		at := int(float64(t) / factor)
		if t > -hop {
			dsp.CopyFrame(next, x, last+hop)
			at = alike(x, next, at, hop/2)
		}
		last = at
		dsp.CopyFrame(frame, x, at)
		for i, w := range window {
			if j := t + i; j >= 0 && j < len(y) {
				y[j] += w * frame[i]
			}
		}
	}
	return y
}

// alike is the position within ±reach of at where x correlates best with want.
// Every other position and every fourth sample is looked at.
func alike(x, want []float64, at, reach int) int {
	best, where := math.Inf(-1), at
	for p := at - reach; p <= at+reach; p += 2 {
		var xy, xx float64
		for i := 0; i < len(want); i += 4 {
			if j := p + i; j >= 0 && j < len(x) {
				xy += want[i] * x[j]
				xx += x[j] * x[j]
			}
		}
		if r := xy / math.Sqrt(xx+1e-12); r > best {
			best, where = r, p
		}
	}
	return where
}

// psola moves the pitch by one to six semitones and leaves the formants, in one
// case of three with another tempo. In half of the cases the intonation is
// flattened or exaggerated too.
func psola(x []float64, rate int, rng *rand.Rand) []float64 {
	pitch, length, swing := semitones(1, 6, rng), 1.0, 1.0
	if rng.IntN(3) == 0 {
		length = semitones(1, 4, rng)
	}
	if rng.IntN(2) == 0 {
		swing = 2 * rng.Float64()
	}
	return overlapped(x, rate, pitch, length, swing)
}

// overlapped sets two periods round each glottal pulse anew, so that x gets
// longer by the factor length, its pitch higher by the factor pitch, and its
// intonation by the exponent swing wider (Moulines & Charpentier 1990).
func overlapped(x []float64, rate int, pitch, length, swing float64) []float64 {
	f0 := dsp.NewPitch(float64(rate), &dsp.PitchOptions{Strict: true}).Track(nil, x)
	marks := pulseMarks(x, f0, rate)
	if len(marks) < 3 {
		return slices.Clone(x)
	}
	mean := meanPitch(f0)
	y, norm := make([]float64, int(float64(len(x))*length)), make([]float64, int(float64(len(x))*length))
	i := 0
	for t := marks[0].at * length; t < float64(len(y)); {
		for i+1 < len(marks) && math.Abs(marks[i+1].at*length-t) <= math.Abs(marks[i].at*length-t) {
			i++
		}
		m := marks[i]
		half := int(m.period)
		for j := -half; j < half; j++ {
			from, to := int(m.at)+j, int(t)+j
			if from >= 0 && from < len(x) && to >= 0 && to < len(y) {
				w := 0.5 + 0.5*math.Cos(math.Pi*float64(j)/float64(half))
				y[to] += w * x[from]
				norm[to] += w
			}
		}
		step := m.period
		if m.voiced {
			f := float64(rate) / m.period
			step = float64(rate) / (pitch * mean * math.Pow(f/mean, swing))
		}
		t += max(step, 4)
	}
	for k, w := range norm {
		if w > 1 {
			y[k] /= w // closer pulses would be louder
		}
	}
	return y
}

// A mark is where psola cuts.
type mark struct {
	at, period float64 // samples
	voiced     bool
}

// pulseMarks are the glottal pulses of x and, between them, marks 5 ms apart.
func pulseMarks(x, f0 []float64, rate int) []mark {
	sr := float64(rate)
	pulses := dsp.NewPulses(sr).Find(nil, x, f0)
	var out []mark
	gap := 0.005 * sr
	at := 0.0
	for i, p := range pulses {
		p *= sr
		for ; at < p-1.5*gap; at += gap {
			out = append(out, mark{at, gap, false})
		}
		period := 0.0
		if i > 0 {
			period = p - pulses[i-1]*sr
		}
		if i+1 < len(pulses) && (period == 0 || period > 0.02*sr) {
			period = pulses[i+1]*sr - p
		}
		if period <= 0 || period > 0.02*sr { // 50 Hz
			period = gap
		}
		out = append(out, mark{p, period, true})
		at = p + period
	}
	for ; at < float64(len(x)); at += gap {
		out = append(out, mark{at, gap, false})
	}
	return out
}

// meanPitch is the geometric mean of the voiced frames in Hz, 100 if none is.
func meanPitch(f0 []float64) float64 {
	var sum, n float64
	for _, f := range f0 {
		if f > 0 {
			sum += math.Log(f)
			n++
		}
	}
	if n == 0 {
		return 100
	}
	return math.Exp(sum / n)
}
