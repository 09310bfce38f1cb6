package main

import (
	"math"
	"path/filepath"

	"github.com/voicescreen/voicescreen/dsp"
)

// spoken is a recording of speech whose text is known.
type spoken struct {
	x         []float64
	syllables float64 // of the text, counted by hand
	praatF1   float64 // Hz, median of F1 by Praat 6.3.07 (Burg) in all frames
}

// recordings are the recordings of the reference set whose text is known.
var recordings = []struct {
	name               string
	syllables, praatF1 float64
}{
	{"jfk_44100_mono", 28, 636},   // And so, my fellow Americans (9), ask not … for you (10), ask what … your country (9)
	{"arctic_a0007_16k", 16, 415}, // And you always want to see it in the superlative degree
}

func (s *set) readRecordings(dir string) error {
	for _, r := range recordings {
		x, err := readWAV(filepath.Join(dir, r.name+".wav"))
		if err != nil {
			return err
		}
		s.spoken = append(s.spoken, spoken{x, r.syllables, r.praatF1})
	}
	return nil
}

// recordedRows measures recorded speech. It compares only medians with Praat, whose frames
// differ. The spread of F1, a standard deviation, shows frames in which another resonance
// was taken for F1. The vowels of Peterson and Barney's averages (1952) alone have a spread
// of 150 to 200 Hz in one group of speakers. If the lowest resonance is always taken, the
// spread is 272 and 424 Hz on these recordings.
func recordedRows(m map[string]float64, a *dsp.Analyzer, s *set) {
	const few, many = "syllables of recorded speech, most missed", "syllables of recorded speech, most added"
	m["F1 of recorded speech against Praat"], m["F1 of recorded speech, spread"] = math.NaN(), math.NaN()
	m[few], m[many] = math.NaN(), math.NaN()
	for i, r := range s.spoken {
		out := a.Analyze(r.x)
		var f []float64
		for _, v := range out.Formants {
			if !math.IsNaN(v.F[0]) {
				f = append(f, v.F[0])
			}
		}
		n := 100 * (float64(len(out.Syllables))/r.syllables - 1)
		for name, v := range map[string]float64{
			"F1 of recorded speech against Praat": off(median(f), r.praatF1), "F1 of recorded speech, spread": dsp.SD(f),
			few: max(0, -n), many: max(0, n),
		} {
			if i == 0 || !(v <= m[name]) {
				m[name] = v
			}
		}
	}
}
