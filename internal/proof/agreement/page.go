package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/voicescreen/voicescreen/features/egemaps"
)

const intro = `# eGeMAPS: agreement with openSMILE

` + "`voicescreen features --set egemaps`" + ` measures the 88 functionals of the extended Geneva minimalistic acoustic parameter set (Eyben et al. 2016), under their published names. This page compares them with those of openSMILE 3.0.1 (eGeMAPSv02), from which most published models and corpora have theirs. It is printed by ` + "`go run ./internal/proof/agreement -reference DIR`" + `; not typed.

"Speech" are ten recordings of words and sentences at 8 to 44.1 kHz, "signals" %d synthetic signals at 44.1 kHz: tones, glides, vowels, pulse trains and noise. r is Pearson's correlation over the files, bias the mean of our values less openSMILE's, mean and SD those of openSMILE's values. A file counts if the functional is defined in both programs; openSMILE writes 0 for an undefined value, and this program nothing. A correlation over signals that hardly differ says little, such as that of jitter over perfectly regular vowels.

How to use it with a published model: a functional can replace that of openSMILE in a model trained on it if r on speech is near 1 and the bias is small beside the SD. Those with the note "another definition" cannot. Ten recordings are few: compare on recordings of your own first.

`

// A note says why functionals differ on purpose. The first one whose prefix fits holds.
var notes = []struct{ prefix, mark string }{
	{"F0semitoneFrom27.5Hz_sma3nz_meanR", "f"}, {"F0semitoneFrom27.5Hz_sma3nz_stddevR", "f"},
	{"F0semitoneFrom27.5Hz_sma3nz_meanF", "f"}, {"F0semitoneFrom27.5Hz_sma3nz_stddevF", "f"},
	{"F0semitone", "a"},
	{"jitterLocal", "b"}, {"shimmerLocal", "b"},
	{"HNRdBACF", "c"},
	{"logRelF0-H1-H2", "d"}, {"logRelF0-H1-A3", "d"},
	{"F1amplitude", "e"}, {"F2amplitude", "e"}, {"F3amplitude", "e"},
	{"F1", "g"}, {"F2", "g"}, {"F3", "g"},
	{"slope", "h"},
	{"loudness_sma3_meanR", "i"}, {"loudness_sma3_stddevR", "i"}, {"loudness_sma3_meanF", "i"}, {"loudness_sma3_stddevF", "i"}, {"loudnessPeaks", "i"},
	{"equivalentSoundLevel", "j"},
	{"VoicedSegments", "a"}, {"MeanVoiced", "a"}, {"StddevVoiced", "a"}, {"MeanUnvoiced", "a"}, {"StddevUnvoiced", "a"},
}

const remarks = `
## Where the values differ on purpose

- **a** F0 and voicing are those of schema voice/1. openSMILE takes 5.2 % of the frames of a known sequence for voiced or unvoiced wrongly, this program none, and 3.0 % of its F0 on resynthesised voices are off by more than 20 %, here 0.06 % ([dsp/README.md](../dsp/README.md)). Octave errors move the 20th percentile and the range most. Recordings of one word have few frames and differ most.
- **b** Periods are those between the glottal pulses of voice/1, whose jitter is right to 0.5 %. openSMILE is 4.2 % low on vowels, and a fifth low at 4 % jitter. Shimmer is the difference of peak-to-peak amplitudes.
- **c** The definition of the set includes the decay of the analysis window, so that a perfect voice has 8 dB at 110 Hz and 14 dB at 220 Hz. These values have it too, from a ratio that is right to 0.1 dB without it (hnr.mean_db of voice/1).
- **d** Another definition. The level of harmonic k is that of the highest bin within a quarter of F0 of k·F0. A synthetic voice whose second harmonic is made 14 dB stronger than the first (hc_strong_h2_120) has a difference of −14 dB here and +14 dB in openSMILE, and a pure tone one of 6 dB in openSMILE. A3 is the highest harmonic in 0.8 to 1.2 times F3.
- **e** Another definition. openSMILE averages −201 dB for the unvoiced frames in, so that its value measures the share of voice. Here only voiced frames count, as section 3 of the paper says.
- **f** Another definition. A part of the contour rises or falls from one extremum to the next that stands out by a tenth of the spread. The paper leaves the choice open. The voiced frames count as one sequence, in both programs: jumps over pauses dominate.
- **g** Another definition. Formants are the resonances of a weighted predictor of order 10. They are right to 0.4 % on Klatt vowels, where openSMILE is off by 40, 17 and 3.4 % for F1, F2 and F3. Their bandwidths are 150 to 250 Hz on average in the speech, and 890 to 1260 Hz in openSMILE.
- **h** The bin at 0 Hz is not part of the regression, and the spectrum is of 23 ms under a Hann window. openSMILE's slope of 0 to 500 Hz is that of digital silence, 0.13 dB/Hz, where the slope is undefined here.
- **i** An extremum must stand out by a tenth of the spread of the loudness. On steady signals, which have no peaks but ripple, the two programs count differently.
- **j** An offset has no effect here, and digital silence has no level.

All values are undefined (empty, null) where the recording has no frame to measure: those of voiced frames without voice, those of unvoiced frames in a sustained vowel.
`

// page prints the table and its remarks.
func page(w io.Writer, set []sample) {
	speech := func(s sample) bool { return s.speech }
	signal := func(s sample) bool { return !s.speech }
	signals := 0
	for _, s := range set {
		if signal(s) {
			signals++
		}
	}
	fmt.Fprintf(w, intro, signals)
	fmt.Fprint(w, `| functional | unit | speech: files | r | bias | mean | SD | signals: files | r | bias | mean | SD | note |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
`)
	for i := range egemaps.Schema().Len() {
		name, unit := egemaps.Schema().Feature(i)
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", name, unit, compare(set, i, speech), compare(set, i, signal), note(name))
	}
	fmt.Fprint(w, remarks)
}

// note is the mark of the remark about a functional, "" if there is none.
func note(name string) string {
	for _, n := range notes {
		if strings.HasPrefix(name, n.prefix) {
			return n.mark
		}
	}
	return ""
}

// String is the five columns of the table. A correlation over fewer than four files is
// left out.
func (a agreement) String() string {
	r := "–"
	if a.n >= 4 && !math.IsNaN(a.correlation) {
		r = fmt.Sprintf("%.2f", a.correlation)
	}
	return fmt.Sprintf("%d | %s | %s | %s | %s", a.n, r, number(a.bias), number(a.mean), number(a.sd))
}

func number(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%.3g", x)
}
