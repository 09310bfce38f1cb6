package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/screen"
)

// shownContributions is how many features are shown that moved a score.
// Chosen: as many as a person takes in.
const shownContributions = 5

// writeAnalysis prints an analysis for people.
func writeAnalysis(w io.Writer, file string, a *voicescreen.Analysis) error {
	p := &command.Printer{W: w}
	p.Printf("%s\n", file)
	p.Printf("  recording   %.1f s at %d Hz, %.1f s of it speech\n", a.Duration, a.SampleRate, a.SpeechSeconds)
	p.Printf("  quality     signal to noise %s, clipped %s, bandwidth %s\n",
		command.Text(a.Quality.SNR, "%.0f dB"), command.Text(100*a.Quality.Clipped, "%.2f %%"), command.Text(a.Quality.Bandwidth, "%.0f Hz"))
	for _, c := range []screen.Category{screen.Depression, screen.Anxiety, screen.Deepfake} {
		for i := range a.Scores {
			if a.Scores[i].Category == c {
				printScore(p, &a.Scores[i])
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

func printScore(p *command.Printer, s *screen.Score) {
	interval := ""
	if s.Low <= s.High { // not where they are undefined
		interval = fmt.Sprintf(" (90 %% interval %.0f to %.0f)", 100*s.Low, 100*s.High)
	}
	p.Printf("\n  %-10s  %.0f of 100%s, %s\n", s.Category, 100*s.Probability, interval, band(s))
	calibrated := "calibrated"
	if !s.Calibrated {
		calibrated = "not calibrated on labelled recordings"
	}
	p.Printf("              model %s %s, %s, %.0f %% of its weight measured\n", s.Model, s.Version, calibrated, 100*s.Coverage)
	if s.Baseline > 0 {
		p.Printf("              compared with %s of the same person\n", command.Count(s.Baseline, "earlier recording"))
	}
	for _, c := range s.Cautions {
		p.Printf("              caution      %s\n", cautionText[c])
	}
	printSegments(p, s)
	for i, c := range s.Contributions[:min(shownContributions, len(s.Contributions))] {
		title := ""
		if i == 0 {
			title = "weighs most"
		}
		p.Printf("              %-11s  %s  (%+.2f)\n", title, featureValue(c), c.Logits)
	}
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
		p.Printf("              %-11s  %4.0f s:", title, s.Segments[i].Start)
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

// band describes a score in words.
func band(s *screen.Score) string {
	var words []string
	if s.Severity.Valid() {
		words = append(words, strings.ReplaceAll(s.Severity.String(), "_", " "))
	}
	of := ""
	if s.Category == screen.Deepfake {
		of = " of synthesis"
	}
	switch s.Decision {
	case screen.Positive:
		words = append(words, "signs"+of)
	case screen.Negative:
		words = append(words, "no signs"+of)
	default:
		words = append(words, "not decided")
	}
	return strings.Join(words, ", ")
}

func featureValue(c screen.Contribution) string {
	v := fmt.Sprintf("%s %.4g", c.Feature, c.Value)
	if c.Unit != "" && c.Unit != "1" {
		v += " " + c.Unit
	}
	return v
}
