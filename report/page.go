package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

// A Page shows the analysis of one recording to people: scores in sentences and on
// scales, what moved them, where the speaker lies beside the norms, the quality of the
// recording, and pictures of its signal.
type Page struct {
	Title    string                // of the page, such as the name of the file; default: "Recording"
	Made     time.Time             // is printed; default: nothing
	Analysis *voicescreen.Analysis // as Engine.Analyze returns it; required
	Signal   *Signal               // for the pictures of the signal; default: none
}

// Write writes the page: one HTML document of UTF-8 that loads nothing and runs no
// script, for the screen and for paper. It is valid XML too. The error is w's, or
// internal.
func (p *Page) Write(w io.Writer) error {
	v := view{Page: p, Title: cmp.Or(p.Title, "Recording"), Disclaimer: screen.Disclaimer, Quality: quality(p.Analysis), Style: template.CSS(style)}
	if !p.Made.IsZero() {
		v.Date = p.Made.Format("2006-01-02 15:04")
	}
	for _, c := range screen.Categories() {
		v.Sections = append(v.Sections, p.section(c))
	}
	v.Places = Places(p.speech()...)
	if p.Signal != nil {
		picture, err := p.Signal.picture()
		if err != nil {
			return err
		}
		v.Picture, v.PictureText = picture, p.Signal.describe()
	}
	if err := page.Execute(w, &v); err != nil {
		return fmt.Errorf("report: write the page: %w", err)
	}
	return nil
}

//go:embed page.html
var pageText string

//go:embed page.css
var style string

var page = template.Must(template.New("page").Parse(pageText))

// A view is what the template of a page reads.
type view struct {
	*Page
	Title       string
	Date        string
	Sections    []section
	Places      []Place
	Quality     []fact
	Picture     template.HTML
	PictureText string
	Style       template.CSS
	Disclaimer  string
}

// A fact is a line of a table.
type fact struct{ Name, Value, Meaning string }

// A section is the part of a page about one category.
type section struct {
	Category     screen.Category
	Heading      string
	Reason       string // why there is no score; "" if there is one
	Sentence     string
	Scale        template.HTML
	ScaleText    string
	Facts        []fact
	Cautions     []string
	Measures     []string
	Segments     template.HTML
	SegmentsText string
	Means        string
	MeansNot     string
}

// measuresShown is how many measures a section lists. Chosen: as many as a person
// takes in.
const measuresShown = 5

// section collects what the page says about a category.
func (p *Page) section(c screen.Category) section {
	sec := section{Category: c, Heading: about[c].heading, Means: about[c].means, MeansNot: about[c].meansNot}
	s := p.score(c)
	if s == nil {
		sec.Reason = "no score was asked for"
		if f := p.Analysis.Failures[c]; f != nil {
			sec.Reason = Reason(c, f, p.Analysis.SpeechSeconds)
		}
		return sec
	}
	sec.Sentence = Sentence(s) + "."
	sec.Scale, sec.ScaleText = Scale(s), describeScale(s)
	if sec.Segments = Segments(s); sec.Segments != "" {
		sec.SegmentsText = describeSegments(s)
	}
	for _, f := range []fact{
		{Name: "Decision", Value: Decision(s)},
		{Name: "Class", Value: Class(s.Severity)},
		{Name: "Compared", Value: Compared(s)},
		{Name: "Uncertainty", Value: Uncertainty(s)},
		{Name: "Model", Value: s.Model + " " + s.Version + ", " + Calibration(s)},
	} {
		if f.Value != "" {
			sec.Facts = append(sec.Facts, f)
		}
	}
	if s.Partial() {
		sec.Facts = append(sec.Facts, fact{Name: "Measured", Value: fmt.Sprintf("%.0f %% of what the model weighs", 100*s.Coverage)})
	}
	for _, caution := range s.Cautions {
		sec.Cautions = append(sec.Cautions, Caution(caution))
	}
	sec.Measures = Measures(s.Contributions, measuresShown)
	return sec
}

// score returns the score of a category, nil if there is none.
func (p *Page) score(c screen.Category) *screen.Score {
	for i := range p.Analysis.Scores {
		if p.Analysis.Scores[i].Category == c {
			return &p.Analysis.Scores[i]
		}
	}
	return nil
}

// speech returns the scores whose measures describe a way of speaking.
func (p *Page) speech() (all []*screen.Score) {
	for _, c := range []screen.Category{screen.Depression, screen.Anxiety} {
		if s := p.score(c); s != nil {
			all = append(all, s)
		}
	}
	return all
}

// about says of each category what its score means and what it does not.
var about = map[screen.Category]struct{ heading, means, meansNot string }{
	screen.Depression: {"Depression",
		"The score is the share of people with a voice like this one who would score 10 or more on the questionnaire PHQ-9, if the population is as stated. It is a reason to ask, or to give the questionnaire.",
		"It is not a diagnosis, and no score rules depression out. It says little about how severe a depression is. Illness, medicine, age, language and the microphone change a voice too."},
	screen.Anxiety: {"Anxiety",
		"The score is the share of people with a voice like this one who would score 10 or more on the questionnaire GAD-7, if the population is as stated.",
		"It is not a diagnosis. Nothing shows that the shipped model does better than the base rate: give the questionnaire whatever the score says."},
	screen.Deepfake: {"Synthetic voice",
		"The score is the share of recordings that sound like this one which would be made by a machine, if recordings are as often synthetic as stated.",
		"It does not prove who spoke or that a recording is genuine. Systems that the model has never heard are missed more often; telephones and compression change the score."},
}

// Reason says for people why there is no score of a category for a recording with so
// many seconds of speech.
func Reason(c screen.Category, f *screen.Failure, speechSeconds float64) string {
	if f.Code != screen.CodeAudioLength {
		return f.Message
	}
	text := fmt.Sprintf("%.0f s of speech are needed, the recording has %.1f s", f.Data["minimum_length"], speechSeconds)
	if c != screen.Deepfake {
		text += fmt.Sprintf("; %.0f to %.0f s are recommended", screen.RecommendedSpeech[0], screen.RecommendedSpeech[1])
	}
	return text
}

// quality says how good the recording is, and what that means.
func quality(a *voicescreen.Analysis) []fact {
	length := fmt.Sprintf("%.1f s, %.1f s of it speech", a.Duration, a.SpeechSeconds)
	switch {
	case a.Truncated:
		length += "; the file ends before what it announces"
	case a.Partial:
		length += "; the recording goes on, and the rest was not analysed"
	}
	speech := fmt.Sprintf("Longer speech makes the scores of depression and anxiety more certain: %.0f to %.0f s are recommended.",
		screen.RecommendedSpeech[0], screen.RecommendedSpeech[1])
	if a.SpeechSeconds >= screen.RecommendedSpeech[0] {
		speech = "As long as recommended."
	}
	level := math.NaN()
	if a.Features.Schema != nil {
		level = a.Features.Get("level.mean_dbfs")
	}
	return []fact{
		{"Length", length, speech},
		{"Sample rate", fmt.Sprintf("%d Hz", a.SampleRate), ""},
		{"Level of speech", unit(level, "%.0f dBFS"), "0 dBFS is the loudest that a file can hold."},
		{"Speech above noise", unit(a.Quality.SNR, "%.0f dB"), noise(a.Quality.SNR)},
		{"Clipped", unit(100*a.Quality.Clipped, "%.2f %%"), clipping(a.Quality.Clipped)},
		{"Bandwidth", unit(a.Quality.Bandwidth, "%.0f Hz"), band(a.Quality.Bandwidth)},
	}
}

// What is said of the quality. The bounds of noise and band are those of the cautions
// of package features; 30 dB is chosen, a quiet room.
func noise(snr float64) string {
	switch {
	case math.IsNaN(snr):
		return "Not known: there is no pause to measure the noise in."
	case snr < 18:
		return "Noisy: the measures describe the noise too."
	case snr < 30:
		return "Some noise."
	}
	return "Quiet."
}

func clipping(share float64) string {
	switch {
	case math.IsNaN(share):
		return ""
	case share == 0:
		return "Nowhere too loud for the recorder."
	case share < 0.005:
		return "Too loud for the recorder in a few places."
	}
	return "Too loud for the recorder: the voice is distorted."
}

func band(hz float64) string {
	switch {
	case math.IsNaN(hz):
		return ""
	case hz < 5000:
		return "Narrow, as through a telephone."
	}
	return "All that the models use of a voice."
}

// unit writes a value, or that it is not known.
func unit(v float64, format string) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "not known"
	}
	return fmt.Sprintf(format, v)
}
