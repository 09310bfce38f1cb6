package main

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

// A row is one figure of the table. Smaller is better.
type row struct {
	name  string
	unit  string
	field string  // the best figure of other programs on the reference set
	goal  float64 // in unit; NaN for none
}

// rows are the rows of the table.
var rows = []row{
	{"F0, clean, largest median", "cent", "0.001–1.4", 0.5},
	{"F0, vibrato, median", "cent", "0.001–1.4", 1.5},
	{"F0 at 0 dB, median", "cent", "2.0–2.4", 2.4},
	{"F0 at 0 dB, gross", "%", "0", 0},
	{"F0 at 0 dB, missed", "%", "0", 1},
	{"F0, resynthesised voices, gross", "%", "0.06", 0.1},
	{"F0, the same at 5 dB, gross", "%", "0.00", 0.1},
	{"F0, resynthesised voices, voiced frames missed", "%", "–", math.NaN()},
	{"F0, resynthesised voices, unvoiced frames taken for voiced", "%", "–", math.NaN()},
	{"voicing decision, errors", "%", "0.0", 0.5},
	{"speakers, voiced frames missed", "%", "–", 4},
	{"speakers at 10 dB, voiced frames missed", "%", "–", 8},
	{"speakers at 0 dB, voiced frames missed", "%", "–", 22},
	{"speakers at 0 dB and above, gross", "%", "–", 0.5},
	{"speakers, unvoiced frames taken for voiced", "%", "–", 9},
	{"jitter, pulses, mean error", "%", "0.8", 0.5},
	{"jitter, vowels, mean error", "%", "4.2", 3},
	{"shimmer, pulses, mean error", "%", "0.2", 0.2},
	{"shimmer, vowels, mean error", "%", "1.3", 1},
	{"HNR 5–30 dB, mean error", "dB", "0.11", 0.10},
	{"HNR 5–30 dB, largest error", "dB", "0.27", 0.25},
	{"F1, f0 ≤ 180 Hz, median error", "%", "1.2", 1.2},
	{"F2, f0 ≤ 180 Hz, median error", "%", "0.13", 0.13},
	{"F3, f0 ≤ 180 Hz, median error", "%", "0.25", 0.25},
	{"F1 of recorded speech against Praat", "%", "–", 10},
	{"F1 of recorded speech, spread", "Hz", "–", 200},
	{"syllables of recorded speech, most missed", "%", "–", 20},
	{"syllables of recorded speech, most added", "%", "–", 5},
	{"CPPS, 1 − rank correlation with Praat", "", "–", 0.15},
	{"MFCC against the HTK definition", "relative", "–", 1e-9},
	{"resampling, ripple to 0.9 Nyquist", "dB", "0.006", 0.001},
	{"resampling, spurs and aliases", "dB", "−133 to −184", -120},
}

// measure returns the figures of all rows that need signals, measured on s, by row name. A
// kind of signal that s does not have gives NaN.
func measure(s *set) map[string]float64 {
	m := map[string]float64{}
	a := dsp.NewAnalyzer()
	pitchRows(m, a, s)
	perturbationRows(m, a, s)
	hnrRows(m, a, s)
	formantRows(m, a, s)
	recordedRows(m, a, s)
	cppsRows(m, a, s)
	m["MFCC against the HTK definition"] = worst(s.mfcc, mfccError)
	return m
}

// worst is the largest f over v, NaN if v is empty.
func worst[T any](v []T, f func(T) float64) float64 {
	w := math.NaN()
	for _, x := range v {
		if e := f(x); !(e <= w) { // also where either is NaN
			w = e
		}
	}
	return w
}

// median is the middle value, NaN if v is empty.
func median(v []float64) float64 { return dsp.Percentile(v, 50) }

func percent(a, b int) float64 { return 100 * float64(a) / float64(b) }
