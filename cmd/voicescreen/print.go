package main

import (
	"fmt"
	"io"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/report"
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
			p.Printf("\n  %-10s  no score: %s\n", c, report.Reason(c, f, a.SpeechSeconds))
		}
	}
	p.Printf("\n  %s\n\n", screen.Disclaimer)
	return p.Err
}

func printScore(p *command.Printer, s *screen.Score, verbose bool) {
	p.Printf("\n  %-10s  %s\n", s.Category, report.Sentence(s))
	line := func(title, text string) { p.Printf("              %-12s %s\n", title, text) }
	optional := func(title, text string) {
		if text != "" {
			line(title, text)
		}
	}
	optional("compared", report.Compared(s))
	optional("uncertainty", report.Uncertainty(s))
	optional("class", report.Class(s.Severity))
	line("decision", report.Decision(s))
	line("model", report.Calibration(s))
	if s.Coverage < 0.995 { // 100 % otherwise
		line("", fmt.Sprintf("%.0f %% of what it weighs could be measured", 100*s.Coverage))
	}
	if s.Baseline > 0 {
		line("", fmt.Sprintf("compared with %s of the same person", command.Count(s.Baseline, "earlier recording")))
	}
	for _, c := range s.Cautions {
		line("caution", report.Caution(c))
	}
	printSegments(p, s)
	printMeasures(p, s.Contributions)
	if verbose {
		printNumbers(p, s)
	}
}

// printMeasures prints in words the measures that weigh most.
func printMeasures(p *command.Printer, parts []screen.Contribution) {
	title := "weighs most"
	for _, text := range report.Measures(parts, shownContributions) {
		p.Printf("              %-12s %s\n", title, text)
		title = ""
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
