package dsp

import "math"

// Thresholds of syllable nuclei after De Jong & Wempe (2009).
const (
	syllableDip    = 2 // dB that the level must fall between two nuclei
	syllableVoiced = 3 // frames beside the peak in which voicing is looked for: half the contour's window of 67 ms
)

// syllables appends the times of the syllable nuclei to out.Syllables: peaks
// of the intensity contour within a stretch of speech, less than 25 dB below
// the loudest, with a fall of at least 2 dB on either side, and voiced. The
// ends of a stretch count as falls, so that a steady vowel is one syllable.
//
// De Jong & Wempe's steps, with two differences: the dip is asked for on both
// sides of a peak (theirs only after it, which loses the last one), and the
// search is per stretch of speech. detect must have run.
func (v *activity) syllables(out *Analysis, samples int) {
	v.contour = v.intensity(v.contour, len(out.F0), samples, v.long)
	loud := v.sorted[:0]
	for i, s := range out.IsSpeech {
		if s {
			loud = append(loud, v.contour[i])
		}
	}
	v.sorted = loud
	if len(loud) == 0 {
		return
	}
	least := max(percentile(loud, loudestShare)-speechRange, v.noise)
	n := len(out.IsSpeech)
	for i := 0; i < n; i++ {
		if !out.IsSpeech[i] {
			continue
		}
		j := i
		for j < n && out.IsSpeech[j] {
			j++
		}
		v.nuclei(out, i, j, least)
		i = j
	}
}

// nuclei finds the peaks above least in the frames first to end-1.
func (v *activity) nuclei(out *Analysis, first, end int, least float64) {
	peak, top := first, math.Inf(-1) // highest since the last dip
	low := math.Inf(-1)              // lowest since the last peak; -Inf before the stretch
	rising := true
	for i := first; i <= end; i++ {
		l := math.Inf(-1)
		if i < end {
			l = v.contour[i]
		}
		switch {
		case rising && l > top:
			peak, top = i, l
		case rising && l <= top-syllableDip:
			if top >= least && voicedNear(out.F0, peak) {
				out.Syllables = append(out.Syllables, float64(peak)*Hop)
			}
			rising, low = false, l
		case !rising && l < low:
			low = l
		case !rising && l >= low+syllableDip:
			rising, peak, top = true, i, l
		}
	}
}

// voicedNear tells whether frame i or one close to it is voiced.
func voicedNear(f0 []float64, i int) bool {
	for k := max(0, i-syllableVoiced); k <= min(len(f0)-1, i+syllableVoiced); k++ {
		if f0[k] > 0 {
			return true
		}
	}
	return false
}
