package signals

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Speaker makes connected speech whose voicing is known: phrases of syllables with
// voiceless and voiced consonants, moving formants, falling pitch and level, and ends that
// are modal, breathy or creaky.
type Speaker struct {
	F0     float64 // Hz, middle of the range
	Scale  float64 // of the formants of [Vowels]
	Tilt   float64 // Hz, cut-off of the glottal low-pass in modal voice
	Jitter float64 // standard deviation of the periods, as a ratio
	Creaky float64 // share of the phrases that end in creak,
	Breath float64 // and of those that end in breathy voice
	Echo   float64 // power of the reflections of the room, of that of the direct sound,
	Decay  float64 // and the s in which they fall by 60 dB
	seed   uint64
}

// NewSpeaker draws a speaker: even seeds have low voices (75 to 140 Hz), odd seeds high ones
// (150 to 240 Hz). Ranges are chosen after what is usual in adults.
func NewSpeaker(seed uint64) Speaker {
	r := newRand(seed)
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*r.Float64() }
	s := Speaker{F0: between(75, 140), Scale: between(0.92, 1.05), seed: seed}
	if seed%2 == 1 {
		s.F0, s.Scale = between(150, 240), between(1.08, 1.22)
	}
	s.Tilt, s.Jitter = between(1200, 4000), between(0.004, 0.012)
	s.Creaky, s.Breath = between(0.2, 0.6), between(0.2, 0.4)
	s.Echo, s.Decay = math.Pow(10, between(-3, -1.5)), between(0.1, 0.4) // a microphone near the mouth
	return s
}

// Speech is what a [Speaker] says, in frames of 10 ms centred on i·10 ms.
type Speech struct {
	X         []float64 // peak 0.5
	F0        []float64 // Hz between two glottal closures at most longestGap apart, otherwise 0
	Irregular []bool    // the period differs from a neighbour by more than irregularStep, or is longer than regularGap
}

const (
	speechStep = 0.001 // s between two values of a control
	speechHop  = 0.010 // s between two frames of the truth
	// longestGap is the longest period in s of a voice, and regularGap the longest that
	// is regular: 40 and 50 Hz, below which the pulses of creak are heard one by one.
	// Chosen.
	longestGap, regularGap = 0.025, 0.020
	// irregularStep is the ratio of two neighbouring periods from which on they are
	// irregular: the factor 1.3 of Praat's jitter is where it leaves periods out, and twice
	// the largest jitter of modal voice is 1.1. Chosen between them.
	irregularStep = 1.2
	leastVoice    = 0.03 // amplitude below which the vocal folds do not close, −30 dB; chosen
)

// A control is what the articulators do at one moment.
type control struct {
	f0      float64 // Hz
	voice   float64 // amplitude of the glottal flow, 1 in a stressed vowel
	breath  float64 // 0 modal to 1 breathy
	creak   float64 // 0 modal to 1 creaky
	hiss    float64 // amplitude of the frication
	murmur  bool    // a closed mouth: only the lowest resonance passes
	formant [5]Resonance
}

// Speak returns speech of dur seconds or up to three seconds more. Equal speakers give
// equal speech.
func (s Speaker) Speak(sr, dur float64) Speech {
	r := newRand(s.seed ^ 0x5eec)
	var track []control
	track = s.pause(track, 0.4)
	for float64(len(track))*speechStep < dur {
		track = s.phrase(track, r)
		track = s.pause(track, 0.3+0.5*r.Float64())
	}
	smoothControls(track)
	n := int(float64(len(track)-1) * speechStep * sr)
	source, closures := s.glottis(sr, n, track, r)
	x := tract(sr, source, track, r)
	s.room(x, sr, r)
	out := Speech{X: Normalize(x, 0.5)}
	for i := range out.X { // the noise of a quiet room, −66 dB
		out.X[i] += 2.5e-4 * r.NormFloat64()
	}
	out.truth(closures, float64(n)/sr)
	return out
}

// pause appends silence.
func (s Speaker) pause(track []control, seconds float64) []control {
	c := control{f0: s.F0}
	c.shape(Vowels["schwa"], s.Scale)
	for range int(seconds / speechStep) {
		track = append(track, c)
	}
	return track
}

// shape sets the formants.
func (c *control) shape(vowel []Resonance, scale float64) {
	for k, v := range vowel {
		c.formant[k] = Resonance{v.F * scale, v.B}
	}
}

// phrase appends four to eleven syllables and the end of the phrase.
func (s Speaker) phrase(track []control, r *rand.Rand) []control {
	names := [...]string{"a", "i", "u", "ae", "schwa"}
	from := len(track)
	for range 4 + r.IntN(8) {
		c := control{voice: 0.5 + 0.5*r.Float64()}
		c.shape(Vowels[names[r.IntN(len(names))]], s.Scale*(0.95+0.1*r.Float64()))
		track = consonant(track, c, r)
		for range 70 + r.IntN(130) {
			track = append(track, c)
		}
	}
	ending, last := r.Float64(), 150+r.IntN(250) // ms of the vowel that ends the phrase
	var end control
	switch {
	case ending < s.Creaky:
		end.creak = 0.4 + 0.6*r.Float64()
	case ending < s.Creaky+s.Breath:
		end.breath = 0.5 + 0.5*r.Float64()
	}
	for range last {
		track = append(track, track[len(track)-1])
	}
	n := len(track) - from
	accent, final := 1+2*r.Float64(), 2+4*r.Float64() // semitones
	phase, low := 2*math.Pi*r.Float64(), 45+25*r.Float64()
	for i := range n {
		c := &track[from+i]
		at := float64(i) / float64(n)
		close := min(max(1-float64(n-1-i)/float64(last), 0), 1) // to the end, 0 to 1
		st := 2 - 4*at + accent*math.Sin(phase+2*math.Pi*1.7*float64(i)*speechStep) - final*close
		c.f0 = s.F0 * math.Exp2(st/12)
		if w := min(1, 2.5*close); end.creak > 0 && close > 0 {
			c.f0 *= math.Pow(low/c.f0, w)
			c.creak = end.creak * w
		}
		c.f0 = max(c.f0, 42)
		c.breath = max(c.breath, end.breath*close)
		c.voice *= math.Pow(10, -(6*at+(8+10*end.breath)*close)/20)
	}
	return track
}

// consonant appends the sound before the vowel v.
func consonant(track []control, v control, r *rand.Rand) []control {
	c := v
	length := 50 + r.IntN(50) // ms
	add := func(ms int) {
		for range ms {
			track = append(track, c)
		}
	}
	switch p := r.Float64(); {
	case p < 0.20: // voiceless fricative
		c.voice, c.hiss = 0, 0.3+0.5*r.Float64()
		add(length + 20)
	case p < 0.40: // voiceless stop: closure, burst, aspiration
		c.voice = 0
		add(length)
		c.hiss = 0.6
		add(8)
		c.hiss, c.breath = 0.1, 1
		add(20 + r.IntN(30))
	case p < 0.55: // nasal
		c.voice, c.murmur = 0.5*v.voice, true
		add(length)
	case p < 0.65: // voiced fricative
		c.voice, c.hiss, c.breath = 0.35*v.voice, 0.15, 0.5
		add(length)
	case p < 0.75: // voiced stop
		c.voice, c.murmur, c.breath = 0.2*v.voice, true, 0.4
		add(length)
		c.murmur, c.hiss = false, 0.3
		add(6)
	case p < 0.88: // glide
		c.voice *= 0.6
		c.formant[0].F, c.formant[1].F = 0.6*c.formant[0].F, 0.8*c.formant[1].F
		add(length)
	}
	return track
}

// smoothControls moves every control with two poles of 10 ms, but the switches.
func smoothControls(track []control) {
	const step = 0.1 // 1 ms of 10
	for range 2 {
		c := track[0]
		move := func(y, x *float64) {
			*y += step * (*x - *y)
			*x = *y
		}
		for i := range track {
			t := &track[i]
			move(&c.voice, &t.voice)
			move(&c.breath, &t.breath)
			move(&c.creak, &t.creak)
			move(&c.hiss, &t.hiss)
			move(&c.f0, &t.f0)
			for k := range t.formant {
				move(&c.formant[k].F, &t.formant[k].F)
				move(&c.formant[k].B, &t.formant[k].B)
			}
		}
	}
}

// glottis returns the derivative of the glottal flow with its noise, and the times of the
// closures in s. A pulse is that of D. H. Klatt and L. C. Klatt (J. Acoust. Soc. Am. 87,
// 1990, eq. A1), u(τ) = 27/4·(τ² − τ³) over the open phase; its low-pass is their tilt.
func (s Speaker) glottis(sr float64, n int, track []control, r *rand.Rand) (x, closures []float64) {
	x = make([]float64, n)
	side := 1.0
	for t := 0.0; t < float64(n)/sr-longestGap; {
		c := track[int(t/speechStep)]
		if c.voice < leastVoice {
			t += speechStep
			continue
		}
		// creak: irregular periods, some of which alternate
		side = -side
		period := (1 + (s.Jitter+0.22*c.creak*c.creak)*min(max(r.NormFloat64(), -2.5), 2.5) + 0.1*side*max(0, c.creak-0.7)) / c.f0
		period = max(period, 0.4/c.f0)
		open := min(0.6-0.25*c.creak+0.3*c.breath, 0.85) * min(period, 0.014)
		gain := c.voice * (1 + (0.02+0.15*c.creak)*r.NormFloat64()) * sr / 1000
		flow := func(i int) float64 {
			v := min(max((float64(i)/sr-t)/open, 0), 1)
			return 27.0 / 4 * (v*v - v*v*v)
		}
		for i := int(t * sr); i <= int((t+open)*sr)+1 && i+1 < n; i++ {
			x[i] += gain * (flow(i+1) - flow(i)) // the mean of the derivative over a sample
		}
		closures = append(closures, t+open)
		t += period
	}
	var y float64
	for i, v := range x {
		c := &track[int(float64(i)/sr/speechStep)]
		cut := s.Tilt * math.Pow(300/s.Tilt, c.breath)
		y += (1 - math.Exp(-2*math.Pi*cut/sr)) * (v - y)
		x[i] = y + (0.002+0.02*c.breath)*max(c.voice, 0.5*c.breath)*r.NormFloat64()
	}
	return x, closures
}

// tract filters the source by the formants, and adds the frication.
func tract(sr float64, x []float64, track []control, r *rand.Rand) []float64 {
	type memory struct{ a, b, c, y1, y2 float64 }
	var m [5]memory
	var h1, h2 float64
	last := -1
	var c *control
	for i, v := range x {
		if k := int(float64(i) / sr / speechStep); k != last {
			last, c = k, &track[k]
			for j, f := range c.formant {
				if c.murmur {
					f = Resonance{250 + 900*float64(j), 80 + 300*float64(j)}
				}
				q := math.Exp(-math.Pi * f.B / sr)
				m[j].b, m[j].c = 2*q*math.Cos(2*math.Pi*f.F/sr), -q*q
				m[j].a = 1 - m[j].b - m[j].c
			}
		}
		for j := range m {
			y := m[j].a*v + m[j].b*m[j].y1 + m[j].c*m[j].y2
			m[j].y2, m[j].y1 = m[j].y1, y
			v = y
			if c.murmur && j == 1 {
				v *= 0.5 // a closed mouth radiates little
			}
		}
		z := r.NormFloat64()
		x[i] = v + 0.02*c.hiss*(z-2*h1+h2)
		h2, h1 = h1, z
	}
	return x
}

// room adds reflections: their density is that of a sparse tail, their level falls by 60 dB
// in s.Decay, and their power is s.Echo of the direct sound.
func (s Speaker) room(x []float64, sr float64, r *rand.Rand) {
	dry := slices.Clone(x)
	const taps = 48
	var gains, delays [taps]float64
	var power float64
	for k := range taps {
		delays[k] = 0.003 + 0.8*s.Decay*(float64(k)+r.Float64())/taps
		gains[k] = math.Pow(10, -3*delays[k]/s.Decay) * (2*r.Float64() - 1)
		power += gains[k] * gains[k]
	}
	for k, g := range gains {
		g *= math.Sqrt(s.Echo / power)
		d := int(delays[k] * sr)
		for i, v := range dry[:len(dry)-d] {
			x[d+i] += g * v
		}
	}
}

// truth fills F0 and Irregular from the times of the glottal closures.
func (s *Speech) truth(closures []float64, dur float64) {
	n := int(dur/speechHop+1e-9) + 1
	s.F0, s.Irregular = make([]float64, n), make([]bool, n)
	period := func(k int) float64 { // after closure k; 0 where there is none
		if k < 0 || k+1 >= len(closures) || closures[k+1]-closures[k] > longestGap {
			return 0
		}
		return closures[k+1] - closures[k]
	}
	k := -1
	for i := range n {
		for k+1 < len(closures) && closures[k+1] <= float64(i)*speechHop {
			k++
		}
		p := period(k)
		if p == 0 {
			continue
		}
		s.F0[i], s.Irregular[i] = 1/p, p > regularGap
		for _, q := range [2]float64{period(k - 1), period(k + 1)} {
			s.Irregular[i] = s.Irregular[i] || q > 0 && max(p, q) > irregularStep*min(p, q)
		}
	}
}
