package features

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

// minStretch is how many frames a voiced stretch needs for its pitch slope to
// count: 50 ms. Chosen: a shorter one holds fewer than ten periods of a man's
// voice, so that errors of the F0 estimates dominate its slope.
const minStretch = 5

// framesPerSecond is the rate of every track.
const framesPerSecond = 100

// pitch summarises the F0 track over its voiced frames, in hertz and in
// semitones re the median, 12·log2(f0/median).
//
// f0.range_st is the 95th minus the 5th percentile. f0.slope_st_s is the mean
// of the least-squares slopes of the voiced stretches of at least minStretch
// frames, weighted by their lengths. voiced.ratio is the share of the speech
// frames that are voiced.
func (e *extraction) pitch() {
	f0 := e.collect(e.voiced, func(i int) float64 { return e.a.F0[i] })
	e.set("f0.mean_hz", dsp.Mean(f0))
	median := dsp.PercentileInPlace(f0, 50)
	e.set("f0.median_hz", median)
	if len(f0) > 0 {
		st := e.collect(e.voiced, func(i int) float64 { return semitones(e.a.F0[i], median) })
		e.set("f0.sd_st", dsp.SD(st))
		e.set("f0.range_st", dsp.PercentileInPlace(st, 95)-dsp.PercentileInPlace(st, 5))
		e.set("f0.slope_st_s", e.pitchSlope(median))
	}
	var speech, both int
	for i, is := range e.a.IsSpeech {
		if is {
			speech++
			if e.voiced(i) {
				both++
			}
		}
	}
	e.set("voiced.ratio", float64(both)/float64(speech)) // 0/0 is NaN
}

func semitones(f, ref float64) float64 { return 12 * math.Log2(f/ref) }

// pitchSlope is the weighted mean of the slopes of the voiced stretches in
// semitones per second, NaN if no stretch is long enough.
func (e *extraction) pitchSlope(median float64) float64 {
	var sum, weight float64
	stretch := e.x[:0]
	for i := 0; i <= len(e.a.F0); i++ {
		if i < len(e.a.F0) && e.voiced(i) {
			stretch = append(stretch, semitones(e.a.F0[i], median))
			continue
		}
		if len(stretch) >= minStretch {
			w := float64(len(stretch))
			sum += w * dsp.Slope(stretch) * framesPerSecond
			weight += w
		}
		stretch = stretch[:0]
	}
	return sum / weight // 0/0 is NaN
}

// formants summarises F1 to F3 and the vowel space.
func (e *extraction) formants() {
	for k, name := range []string{"formant.f1", "formant.f2", "formant.f3"} {
		e.set(name+".sd_hz", dsp.SD(e.formant[k]))
		e.set(name+".median_hz", dsp.PercentileInPlace(e.formant[k], 50))
	}
	e.set("vowel.space", e.vowels.space())
}

// vowels holds the running moments of F1 and F2 in kHz (Welford).
type vowels struct{ n, m1, m2, s11, s22, s12 float64 }

func (v *vowels) add(f *dsp.Formants) {
	f1, f2 := f.F[0]/1000, f.F[1]/1000
	if !dsp.Finite(f1) || !dsp.Finite(f2) {
		return
	}
	v.n++
	d1, d2 := f1-v.m1, f2-v.m2
	v.m1 += d1 / v.n
	v.m2 += d2 / v.n
	v.s11 += d1 * (f1 - v.m1)
	v.s22 += d2 * (f2 - v.m2)
	v.s12 += d1 * (f2 - v.m2)
}

// space is the area of the standard ellipse of the voiced frames in the
// plane of F1 and F2, π·√det Σ in kHz², where Σ is their sample covariance:
// the ellipse on which the Mahalanobis distance is 1, about 39 % of a normal
// cloud. Unlike the area between corner vowels it needs no labels. It is NaN
// for fewer than three frames with both formants.
func (v *vowels) space() float64 {
	if v.n < 3 {
		return math.NaN()
	}
	det := (v.s11*v.s22 - v.s12*v.s12) / ((v.n - 1) * (v.n - 1))
	return math.Pi * math.Sqrt(max(det, 0)) // rounding may leave a tiny negative
}
