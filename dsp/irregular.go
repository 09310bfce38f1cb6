package dsp

import "math"

const (
	// irregularFrames is the least number of frames of irregular voice, 30 ms, one and
	// a half periods of the lowest pitch: shorter ones are the ends of sounds. Chosen.
	irregularFrames = 3
	// irregularGap is the largest number of frames between irregular and other voice: creak
	// begins or ends a voiced stretch, and a knock does not. Chosen.
	irregularGap = 3
)

// Irregular reports which frames of the latest call of [Pitch.Track] are irregular voice,
// such as creak, whose periods differ too much for a pitch: those that F0 has as
// unvoiced although they are as loud below 300 Hz as a voice is, for at least 30 ms
// and beside a voiced stretch. f0 is what that call returned. The result has len(f0)
// frames and is written from dst[0] on, in dst's memory where that is large
// enough; dst may be nil. f0 is not changed. It panics if f0 has another length than
// that track.
//
// The rule is the project's own. In synthetic speech with a signal-to-noise ratio of
// 10 dB and more it finds nine of ten frames between periods that differ by more than
// 20 %, one of a hundred unvoiced frames, and of the regular frames those that the
// track misses. Louder noise below 300 Hz counts as irregular voice.
func (p *Pitch) Irregular(dst []bool, f0 []float64) []bool {
	if len(f0) > 0 && len(f0) != len(p.path.local) {
		panic("dsp: irregular voice of a track that is not the latest")
	}
	dst = filled(dst, len(f0), false)
	last := math.MinInt / 2 // voiced frame
	for i := 0; i < len(f0); i++ {
		if f0[i] > 0 {
			last = i
			continue
		}
		end := i
		for end < len(f0) && !(f0[end] > 0) && p.loud(end) {
			end++
		}
		if end == i {
			continue
		}
		beside := i-last <= irregularGap
		for k := end; k < min(end+irregularGap, len(f0)); k++ {
			beside = beside || f0[k] > 0
		}
		if beside && end-i >= irregularFrames {
			for k := i; k < end; k++ {
				dst[k] = true
			}
		}
		i = end - 1
	}
	return dst
}

// loud reports whether frame i does not tend to be unvoiced for its magnitude.
func (p *Pitch) loud(i int) bool {
	return p.path.unvoiced(i, &p.bounds, &p.opts) <= float32(p.opts.VoicingThreshold)
}

// IrregularShare is the share of irregular voice in all voice, of the frames of an F0
// track and those that [Pitch.Irregular] found: from 0 to 1, NaN without voice. It panics
// if the lengths differ.
func IrregularShare(f0 []float64, irregular []bool) float64 {
	if len(f0) != len(irregular) {
		panic("dsp: tracks of different lengths")
	}
	var n, all float64
	for i, is := range irregular {
		if is {
			n++
		}
		if is || f0[i] > 0 {
			all++
		}
	}
	return n / all
}
