package signals

import "math"

// A PartKind is the kind of a part of a [Sequence].
type PartKind uint8

// The kinds of parts.
const (
	Silence  PartKind = iota + 1 // white noise of RMS 1e-4
	Voiced                       // a harmonic complex that glides from F0 to F1, peak 0.4, 12 ms fades
	Unvoiced                     // high-passed noise like a fricative, 8 ms fades
)

// A Part is one part of a sequence, of Duration seconds. For a voiced part, F0 and F1 are
// the F0 in Hz at its start and end, between which it changes exponentially.
type Part struct {
	Kind     PartKind
	Duration float64
	F0, F1   float64
}

// VoicedUnvoiced is the sequence of the reference set.
var VoicedUnvoiced = []Part{
	{Silence, 0.25, 0, 0}, {Voiced, 0.40, 120, 140}, {Unvoiced, 0.12, 0, 0},
	{Voiced, 0.35, 150, 110}, {Silence, 0.30, 0, 0}, {Unvoiced, 0.10, 0, 0},
	{Voiced, 0.50, 200, 260}, {Unvoiced, 0.15, 0, 0}, {Voiced, 0.30, 240, 180},
	{Silence, 0.25, 0, 0},
}

// Sequence renders the parts one after the other.
func Sequence(sr float64, parts []Part, seed uint64) []float64 {
	r := newRand(seed)
	var x []float64
	for _, p := range parts {
		n := samples(sr, p.Duration)
		y := make([]float64, n)
		switch p.Kind {
		case Silence:
			for i := range y {
				y[i] = 1e-4 * r.NormFloat64()
			}
		case Unvoiced:
			var a, b float64
			for i := range y {
				z := r.NormFloat64()
				y[i] = 0.02 * (z - 2*a + b) // second difference
				a, b = z, a
			}
			Fade(y, sr, 0.008)
		case Voiced:
			h := Harmonic(sr, Glide(p.F0, p.F1, p.Duration), p.Duration+1/sr)
			copy(y, Fade(Normalize(h[:n], 0.4), sr, 0.012))
		}
		x = append(x, y...)
	}
	return x
}

// SequenceF0 is the true F0 of the parts at the time t, in Hz; 0 is unvoiced.
func SequenceF0(parts []Part, t float64) float64 {
	t += 1e-9 // a time at a boundary, which may be rounded down, lies in the later part
	for _, p := range parts {
		if t < p.Duration {
			if p.Kind != Voiced {
				return 0
			}
			return p.F0 * math.Pow(p.F1/p.F0, t/p.Duration)
		}
		t -= p.Duration
	}
	return 0
}

// ToEdge is the time in seconds from t to the nearest start or end of a part.
func ToEdge(parts []Part, t float64) float64 {
	d, at := math.Abs(t), 0.0
	for _, p := range parts {
		at += p.Duration
		d = min(d, math.Abs(t-at))
	}
	return d
}
