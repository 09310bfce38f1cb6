package report

import (
	"fmt"
	"html/template"

	"github.com/voicescreen/voicescreen/screen"
)

// A Fact is a line of a table.
type Fact struct{ Name, Value, Meaning string }

// A Section is what a page says about one category of a recording.
type Section struct {
	Category     screen.Category
	Heading      string
	Reason       string // why there is no score; "" if there is one, and then what follows is set
	Sentence     string
	Scale        template.HTML
	ScaleText    string
	Facts        []Fact
	Cautions     []string
	Measures     []string
	Segments     template.HTML // "" where there are none
	SegmentsText string

	Means, MeansNot string // what a score of this category means, and what it does not
}

// measuresShown is how many measures a section lists. Chosen: as many as a person
// takes in.
const measuresShown = 5

// NewSection collects what a page says about a category: about the score s or, if that
// is nil, the reason why there is none, as Reason words it.
func NewSection(c screen.Category, s *screen.Score, reason string) Section {
	sec := Section{Category: c, Heading: about[c].heading, Means: about[c].means, MeansNot: about[c].meansNot}
	if s == nil {
		sec.Reason = reason
		return sec
	}
	sec.Sentence = Sentence(s) + "."
	sec.Scale, sec.ScaleText = Scale(s), describeScale(s)
	if sec.Segments = Segments(s); sec.Segments != "" {
		sec.SegmentsText = describeSegments(s)
	}
	for _, f := range []Fact{
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
		sec.Facts = append(sec.Facts, Fact{Name: "Measured", Value: fmt.Sprintf("%.0f %% of what the model weighs", 100*s.Coverage)})
	}
	for _, caution := range s.Cautions {
		sec.Cautions = append(sec.Cautions, Caution(caution))
	}
	sec.Measures = Measures(s.Contributions, measuresShown)
	return sec
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
