package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

// shownContributions is how many features are shown that moved a score.
// Chosen: as many as a person takes in.
const shownContributions = 5

// printer writes lines until one does not get through.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// writeAnalysis prints an analysis for people.
func writeAnalysis(w io.Writer, file string, a *voicescreen.Analysis) error {
	p := &printer{w: w}
	p.printf("%s\n", file)
	p.printf("  recording   %.1f s at %d Hz, %.1f s of it speech\n", a.Duration, a.SampleRate, a.SpeechSeconds)
	p.printf("  quality     signal to noise %s, clipped %s, bandwidth %s\n",
		text(a.Quality.SNR, "%.0f dB"), text(100*a.Quality.Clipped, "%.2f %%"), text(a.Quality.Bandwidth, "%.0f Hz"))
	for _, c := range []screen.Category{screen.Depression, screen.Anxiety, screen.Deepfake} {
		for i := range a.Scores {
			if a.Scores[i].Category == c {
				p.score(&a.Scores[i])
			}
		}
		if f := a.Failures[c]; f != nil {
			p.printf("\n  %-10s  no score: %s\n", c, reason(f, a))
		}
	}
	p.printf("\n  %s\n\n", screen.Disclaimer)
	return p.err
}

// reason says for people why there is no score.
func reason(f *screen.Failure, a *voicescreen.Analysis) string {
	if f.Code == screen.CodeAudioLength {
		return fmt.Sprintf("%.0f s of speech are needed, the recording has %.1f s",
			f.Data["minimum_length"], a.SpeechSeconds)
	}
	return f.Message
}

func (p *printer) score(s *screen.Score) {
	interval := ""
	if s.Low <= s.High { // not where they are undefined
		interval = fmt.Sprintf(" (90 %% interval %.0f to %.0f)", 100*s.Low, 100*s.High)
	}
	p.printf("\n  %-10s  %.0f of 100%s, %s\n", s.Category, 100*s.Probability, interval, band(s))
	calibrated := "calibrated"
	if !s.Calibrated {
		calibrated = "not calibrated on labelled recordings"
	}
	p.printf("              model %s %s, %s, %.0f %% of its weight measured\n", s.Model, s.Version, calibrated, 100*s.Coverage)
	if s.Baseline > 0 {
		p.printf("              compared with %s of the same person\n", count(s.Baseline, "earlier recording"))
	}
	for _, c := range s.Cautions {
		p.printf("              caution      %s\n", cautionText[c])
	}
	p.segments(s)
	for i, c := range s.Contributions[:min(shownContributions, len(s.Contributions))] {
		title := ""
		if i == 0 {
			title = "weighs most"
		}
		p.printf("              %-11s  %s  (%+.2f)\n", title, featureValue(c), c.Logits)
	}
}

// count returns a count of things, such as "1 session" or "2 sessions".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// cautionText says in words why a score is less sure than it looks.
var cautionText = map[screen.Caution]string{
	screen.LittleSpeech:  "too little speech to decide",
	screen.Noisy:         "speech hardly louder than the noise",
	screen.NarrowBand:    "a narrow band, as through a telephone",
	screen.Unfamiliar:    "unlike every recording that the model knows",
	screen.SeveralVoices: "perhaps more than one person speaks",
}

// segments prints the scores of the segments, if there are several, twelve to
// a line: a minute fills two.
func (p *printer) segments(s *screen.Score) {
	const perLine = 12
	if len(s.Segments) < 2 {
		return
	}
	title := "segments"
	for i := 0; i < len(s.Segments); i += perLine {
		p.printf("              %-11s  %4.0f s:", title, s.Segments[i].Start)
		for _, part := range s.Segments[i:min(i+perLine, len(s.Segments))] {
			if part.Probability != part.Probability { // undefined
				p.printf("   -")
				continue
			}
			p.printf(" %3.0f", 100*part.Probability)
		}
		p.printf("\n")
		title = ""
	}
}

// band says in words where a score lies.
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
