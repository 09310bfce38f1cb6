package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/screen"
)

// shownContributions is how many features are shown that moved a score.
// Chosen: as many as a person takes in.
const shownContributions = 5

// writeAnalysis prints an analysis in words; verbose adds the numbers behind them.
func writeAnalysis(w io.Writer, file string, a *voicescreen.Analysis, verbose bool) error {
	p := &command.Printer{W: w}
	p.Printf("%s\n", file)
	p.Printf("  recording   %.1f s at %d Hz, %.1f s of it speech\n", a.Duration, a.SampleRate, a.SpeechSeconds)
	p.Printf("  quality     signal to noise %s, clipped %s, bandwidth %s\n",
		command.Text(a.Quality.SNR, "%.0f dB"), command.Text(100*a.Quality.Clipped, "%.2f %%"), command.Text(a.Quality.Bandwidth, "%.0f Hz"))
	for _, c := range []screen.Category{screen.Depression, screen.Anxiety, screen.Deepfake} {
		for i := range a.Scores {
			if a.Scores[i].Category == c {
				printScore(p, &a.Scores[i], verbose)
			}
		}
		if f := a.Failures[c]; f != nil {
			p.Printf("\n  %-10s  no score: %s\n", c, reason(f, a))
		}
	}
	p.Printf("\n  %s\n\n", screen.Disclaimer)
	return p.Err
}

// reason says for people why there is no score.
func reason(f *screen.Failure, a *voicescreen.Analysis) string {
	if f.Code == screen.CodeAudioLength {
		return fmt.Sprintf("%.0f s of speech are needed, the recording has %.1f s",
			f.Data["minimum_length"], a.SpeechSeconds)
	}
	return f.Message
}

// question says in words what the probability of a score is of: what of 100 voices
// like this one, and of 100 people or recordings of the population.
var question = map[screen.Category]struct{ like, of string }{
	screen.Depression: {"%s of 100 people who sound like this would score 10 or more on the PHQ-9", "; in this population %s of 100 do"},
	screen.Anxiety:    {"%s of 100 people who sound like this would score 10 or more on the GAD-7", "; in this population %s of 100 do"},
	screen.Deepfake:   {"%s of 100 recordings that sound like this would be synthetic", ", if %s of any 100 recordings are"},
}

func printScore(p *command.Printer, s *screen.Score, verbose bool) {
	text := fmt.Sprintf(question[s.Category].like, ofHundred(s.Probability))
	if s.Prior > 0 {
		text += fmt.Sprintf(question[s.Category].of, ofHundred(s.Prior))
	}
	p.Printf("\n  %-10s  %s\n", s.Category, text)
	line := func(title, text string) { p.Printf("              %-12s %s\n", title, text) }
	if s.Prior > 0 && s.Category != screen.Deepfake {
		line("compared", besideAverage(s)+" the average person in this population")
	}
	if s.Low <= s.High { // not where they are undefined
		line("uncertainty", fmt.Sprintf("between %.0f and %.0f of 100 (90 %% interval)", 100*s.Low, 100*s.High))
	}
	if s.Severity.Valid() {
		line("class", classText[s.Severity])
	}
	line("decision", decisionText(s))
	if s.Calibrated {
		line("model", "calibrated on labelled recordings")
	} else {
		line("model", "not calibrated on labelled recordings")
	}
	if s.Coverage < 0.995 { // 100 % otherwise
		line("", fmt.Sprintf("%.0f %% of what it weighs could be measured", 100*s.Coverage))
	}
	if s.Baseline > 0 {
		line("", fmt.Sprintf("compared with %s of the same person", command.Count(s.Baseline, "earlier recording")))
	}
	for _, c := range s.Cautions {
		line("caution", cautionText[c])
	}
	printSegments(p, s)
	printMeasures(p, s.Contributions)
	if verbose {
		printNumbers(p, s)
	}
}

// printMeasures prints in words the measures that weigh most. Of measures with equal
// words the first is printed.
func printMeasures(p *command.Printer, parts []screen.Contribution) {
	title, seen := "weighs most", map[string]bool{}
	for _, c := range parts {
		words := inWords(c)
		if seen[words] {
			continue
		}
		seen[words] = true
		effect := "raises the score"
		if c.Logits < 0 {
			effect = "lowers the score"
		}
		p.Printf("              %-12s %s (%s)\n", title, words, effect)
		if title = ""; len(seen) == shownContributions {
			return
		}
	}
}

// printNumbers prints the numbers behind the words.
func printNumbers(p *command.Printer, s *screen.Score) {
	line := func(title, text string) { p.Printf("              %-12s %s\n", title, text) }
	line("version", fmt.Sprintf("%s %s, %.0f %% of its weight measured", s.Model, s.Version, 100*s.Coverage))
	line("probability", fmt.Sprintf("%.4f, 90 %% interval %s to %s", s.Probability, command.Text(s.Low, "%.4f"), command.Text(s.High, "%.4f")))
	switch {
	case s.Band == screen.Open:
		line("thresholds", "none: the decision is left open")
	case s.Band != screen.Band{}:
		line("thresholds", fmt.Sprintf("negative below %.4f, positive from %.4f on", s.Band.Low, s.Band.High))
	}
	for i, c := range s.Contributions[:min(shownContributions, len(s.Contributions))] {
		title := ""
		if i == 0 {
			title = "numbers"
		}
		line(title, fmt.Sprintf("%s, %+.1f SD  (%+.2f)", featureValue(c), c.Deviation, c.Logits))
	}
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

// classText says what a class is.
var classText = map[screen.Severity]string{
	screen.NoToMild:         "no to mild (PHQ-9 up to 9)",
	screen.MildToModerate:   "mild to moderate (PHQ-9 10 to 14)",
	screen.ModerateToSevere: "moderate to severe (PHQ-9 15 or more)",
	screen.NoOrMinimal:      "no or minimal (GAD-7 up to 4)",
	screen.Moderate:         "moderate (GAD-7 5 to 9)",
	screen.ModeratelySevere: "moderately severe (GAD-7 10 to 14)",
	screen.Severe:           "severe (GAD-7 15 or more)",
}

// decisionText says the decision in words, and why it is open.
func decisionText(s *screen.Score) string {
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

// cautionText says in words why a score is less sure than it looks.
var cautionText = map[screen.Caution]string{
	screen.LittleSpeech:  "too little speech to decide",
	screen.Noisy:         "speech hardly louder than the noise",
	screen.NarrowBand:    "a narrow band, as through a telephone",
	screen.Unfamiliar:    "unlike every recording that the model knows",
	screen.SeveralVoices: "perhaps more than one person speaks",
}

// printSegments prints the scores of the segments, if there are several, twelve to
// a line: a minute fills two.
func printSegments(p *command.Printer, s *screen.Score) {
	const perLine = 12
	if len(s.Segments) < 2 {
		return
	}
	title := "segments"
	for i := 0; i < len(s.Segments); i += perLine {
		p.Printf("              %-12s %4.0f s:", title, s.Segments[i].Start)
		for _, part := range s.Segments[i:min(i+perLine, len(s.Segments))] {
			if part.Probability != part.Probability { // undefined
				p.Printf("   -")
				continue
			}
			p.Printf(" %3.0f", 100*part.Probability)
		}
		p.Printf("\n")
		title = ""
	}
}

func featureValue(c screen.Contribution) string {
	v := fmt.Sprintf("%s %.4g", c.Feature, c.Value)
	if c.Unit != "" && c.Unit != "1" {
		v += " " + c.Unit
	}
	return v
}
