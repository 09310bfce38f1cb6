package report

import (
	"fmt"
	"strconv"

	"github.com/voicescreen/voicescreen/screen"
)

// question says in words what the probability of a score is of: what of 100 voices
// like this one, and of 100 people or recordings of the population.
var question = map[screen.Category]struct{ like, of string }{
	screen.Depression: {"%s of 100 people who sound like this would score 10 or more on the PHQ-9", "; in this population %s of 100 do"},
	screen.Anxiety:    {"%s of 100 people who sound like this would score 10 or more on the GAD-7", "; in this population %s of 100 do"},
	screen.Deepfake:   {"%s of 100 recordings that sound like this would be synthetic", ", if %s of any 100 recordings are"},
}

// Sentence says in words what the probability of a score means: of how many of 100
// voices like this one it is true and, if that is known, of how many of 100 in the
// population. The output of a detector that is not calibrated is no such share, and the
// sentence says so.
func Sentence(s *screen.Score) string {
	if s.Category == screen.Deepfake && !s.Calibrated {
		return fmt.Sprintf("The model gives %s of 100 for a synthetic voice; it is not calibrated, so that this is no share of recordings", ofHundred(s.Probability))
	}
	text := fmt.Sprintf(question[s.Category].like, ofHundred(s.Probability))
	if s.Prior > 0 {
		text += fmt.Sprintf(question[s.Category].of, ofHundred(s.Prior))
	}
	return text
}

// Compared says where a score is beside the average person of the population. It
// returns "" for a deepfake score, and where the average is not known.
func Compared(s *screen.Score) string {
	if s.Prior == 0 || s.Category == screen.Deepfake {
		return ""
	}
	return besideAverage(s) + " the average person in this population"
}

// Uncertainty says the interval of a score in words; "" if the score has none.
func Uncertainty(s *screen.Score) string {
	if !(s.Low <= s.High) { // NaN
		return ""
	}
	return fmt.Sprintf("between %.0f and %.0f of 100 (90 %% interval)", 100*s.Low, 100*s.High)
}

// Class says what a class means; "" for an invalid one.
func Class(s screen.Severity) string { return classes[s] }

// Calibration says whether the model of a score was calibrated on labelled recordings.
func Calibration(s *screen.Score) string {
	if s.Calibrated {
		return "calibrated on labelled recordings"
	}
	return "not calibrated on labelled recordings"
}

// Caution says in words why a score is less certain than it seems.
func Caution(c screen.Caution) string { return cautions[c] }

// Measures says in words which measures weigh most, at most n of them, and whether
// they raise or lower the score. Of measures with equal words it says the first.
func Measures(parts []screen.Contribution, n int) (all []string) {
	seen := map[string]bool{}
	for _, c := range parts {
		words := InWords(c)
		if seen[words] {
			continue
		}
		if seen[words] = true; len(seen) > n {
			break
		}
		effect := "raises the score"
		if c.Logits < 0 {
			effect = "lowers the score"
		}
		all = append(all, words+" ("+effect+")")
	}
	return all
}

// ofHundred is a probability in percent: without decimals, unless these would make it 0
// or 100 of 100, or take it across one half, which has another class.
func ofHundred(p float64) string {
	for digits := range 3 {
		text := fmt.Sprintf("%.*f", digits, 100*p)
		shown, err := strconv.ParseFloat(text, 64)
		if err == nil && (shown > 0) == (p > 0) && (shown < 100) == (p < 1) && (shown >= 100*screen.Half) == (p >= screen.Half) {
			return text
		}
	}
	return fmt.Sprintf("%.3g", 100*p)
}

// besideAverage says where a score is beside that of the average person. Both are
// printed without decimals: where these are equal, the difference is slight.
func besideAverage(s *screen.Score) string {
	slightly := ""
	if ofHundred(s.Probability) == ofHundred(s.Prior) {
		slightly = "slightly "
	}
	switch {
	case s.Probability > s.Prior:
		return slightly + "above"
	case s.Probability < s.Prior:
		return slightly + "below"
	}
	return "the same as"
}

// classes says what a class is.
var classes = map[screen.Severity]string{
	screen.NoToMild:         "no to mild (PHQ-9 up to 9)",
	screen.MildToModerate:   "mild to moderate (PHQ-9 10 to 14)",
	screen.ModerateToSevere: "moderate to severe (PHQ-9 15 or more)",
	screen.NoOrMinimal:      "no or minimal (GAD-7 up to 4)",
	screen.Moderate:         "moderate (GAD-7 5 to 9)",
	screen.ModeratelySevere: "moderately severe (GAD-7 10 to 14)",
	screen.Severe:           "severe (GAD-7 15 or more)",
}

// Decision says the decision in words, and why it is open.
func Decision(s *screen.Score) string {
	of := ""
	if s.Category == screen.Deepfake {
		of = " of synthesis"
	}
	switch {
	case s.Decision == screen.Positive:
		return "signs" + of
	case s.Decision == screen.Negative:
		return "no signs" + of
	case s.Doubtful():
		return "left open: see the caution"
	case s.Band == screen.Open && s.Category == screen.Anxiety:
		return "left open: nothing shows that this model does better than the base rate"
	case s.Band == screen.Open || s.Band == screen.Band{}:
		return "left open"
	}
	return fmt.Sprintf("left open: the model does not decide from %.1f to %.1f of 100", 100*s.Band.Low, 100*s.Band.High)
}

// cautions says in words why a score is less sure than it looks.
var cautions = map[screen.Caution]string{
	screen.LittleSpeech:  "too little speech to decide",
	screen.Noisy:         "speech hardly louder than the noise",
	screen.NarrowBand:    "a narrow band, as through a telephone",
	screen.Unfamiliar:    "unlike every recording that the model knows",
	screen.SeveralVoices: "perhaps more than one person speaks",
	screen.ShortSpeech: fmt.Sprintf("less speech than the %.0f to %.0f s that are recommended: the score is nearer to the average, its interval wider",
		screen.RecommendedSpeech[0], screen.RecommendedSpeech[1]),
	screen.Lossy: "encoded with loss, which can change the measures, those of the deepfake score most",
}
