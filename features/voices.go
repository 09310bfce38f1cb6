package features

import (
	"cmp"
	"math"
	"slices"

	"github.com/voicescreen/voicescreen/dsp"
)

const (
	// leastTurn is how many voiced frames a stretch of speech needs for its
	// median pitch to count: 0.4 s. Chosen: two or three syllables.
	leastTurn = 40
	// leastTurns is how many such stretches are needed to distinguish voices.
	leastTurns = 4
	// voicesApart is the difference, in semitones, from which two groups of
	// stretches of equal length count as two voices. It was measured on
	// recordings of 15 to 25 s, assembled from clips of men and women. Of 34
	// recordings of one person 2 count as several voices (6 %, 95 % interval 2
	// to 19). Of 80 recordings in which two people take turns 45 % are found:
	// 92 % of the 26 pairs whose medians are more than 7 semitones apart, as a
	// woman's and a man's are, and 22 % of the others. Of 182 recordings of 40 s
	// of one speaker each 6 count as several (3 %). Only pitch is compared:
	// cepstra and formants differed from clip to clip, and not from person to
	// person.
	voicesApart = 4.95
)

// severalVoices says whether the stretches of speech fall into two groups by
// their median pitch, as if two people took turns. The groups are split where
//
//	(mean of the higher − mean of the lower) · √(2·share of the smaller)
//
// is largest, with means and shares by voiced time: the smaller the one group, the
// more it must differ. It is a heuristic: see voicesApart for what it finds.
func severalVoices(a *dsp.Analysis) bool {
	type turn struct{ pitch, time float64 } // semitones, frames
	var turns []turn
	var total float64
	for _, s := range a.Speech {
		var f []float64
		for i := int(s.Start / dsp.Hop); i < len(a.F0) && float64(i)*dsp.Hop < s.End; i++ {
			if a.F0[i] > 0 {
				f = append(f, 12*math.Log2(a.F0[i]))
			}
		}
		if len(f) >= leastTurn {
			slices.Sort(f)
			turns = append(turns, turn{f[len(f)/2], float64(len(f))})
			total += float64(len(f))
		}
	}
	if len(turns) < leastTurns {
		return false
	}
	slices.SortFunc(turns, func(a, b turn) int { return cmp.Compare(a.pitch, b.pitch) })
	var all, low, time float64
	for _, t := range turns {
		all += t.pitch * t.time
	}
	for _, t := range turns[:len(turns)-1] {
		low, time = low+t.pitch*t.time, time+t.time
		apart := (all-low)/(total-time) - low/time
		if share := min(time, total-time) / total; apart*math.Sqrt(2*share) > voicesApart {
			return true
		}
	}
	return false
}
