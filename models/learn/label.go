package learn

import (
	"errors"
	"fmt"
	"time"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
)

// ErrLabel is what an error about a label wraps.
var ErrLabel = errors.New("learn: invalid label")

// LabelKind is what a label comes from.
type LabelKind uint8

const (
	PHQ9 LabelKind = iota + 1
	PHQ2
	GAD7
	Interview
)

// Label is what a questionnaire or an interview says of a person: how probable
// the answer is in each of the four bands of models.BandScores, up to a factor.
type Label struct {
	Kind       LabelKind
	Likelihood [4]float64
}

// ScoreLabel is the label of a PHQ-9 or GAD-7 of the given items: the band of
// their sum. An error matches ErrLabel.
func ScoreLabel(kind LabelKind, items []int) (Label, error) {
	want := map[LabelKind]int{PHQ9: 9, GAD7: 7}[kind]
	total, err := sum(items, want)
	if err != nil {
		return Label{}, err
	}
	return TotalLabel(kind, total), nil
}

// TotalLabel is the label of the sum of a questionnaire.
func TotalLabel(kind LabelKind, total int) Label {
	l := Label{Kind: kind}
	band := 0
	for _, least := range models.BandScores {
		band += stats.Indicator(total >= least)
	}
	l.Likelihood[band] = 1
	return l
}

// phq2 is how often a PHQ-2 comes to 0–1, 2, and 3–6 in people at or above a
// PHQ-9 of 10, and in people below: sensitivity and specificity of PHQ-2 ≥ 2,
// 86 and 78 %, and of PHQ-2 ≥ 3, 61 and 92 %, for major depression in 2,642
// people in primary care (Arroll et al. 2010, Ann Fam Med 8:348). That is less
// than they are for a PHQ-9 of 10, of which a PHQ-2 is a part: a PHQ-2 counts
// for less here than it may.
var phq2 = [3][2]float64{ // by result: below, at or above
	{0.78, 0.14},
	{0.14, 0.25},
	{0.08, 0.61},
}

// PHQ2Label is the label of a PHQ-2 of the given two items: a PHQ-9 of 10 or
// more seen through noise. An error matches ErrLabel.
func PHQ2Label(items []int) (Label, error) {
	total, err := sum(items, 2)
	if err != nil {
		return Label{}, err
	}
	p := phq2[min(max(total-1, 0), 2)]
	return Label{Kind: PHQ2, Likelihood: [4]float64{p[0], p[0], p[1], p[1]}}, nil
}

// InterviewLabel is the label of a clinical interview that found a depressive
// episode or none: a PHQ-9 of 10 or more, or less.
func InterviewLabel(positive bool) Label {
	if positive {
		return Label{Kind: Interview, Likelihood: [4]float64{0, 0, 1, 1}}
	}
	return Label{Kind: Interview, Likelihood: [4]float64{1, 1, 0, 0}}
}

// sum adds n items of 0 to 3.
func sum(items []int, n int) (int, error) {
	if len(items) != n || n == 0 {
		return 0, fmt.Errorf("%w: %d items, want %d", ErrLabel, len(items), n)
	}
	total := 0
	for i, v := range items {
		if v < 0 || v > 3 {
			return 0, fmt.Errorf("%w: item %d is %d, want 0 to 3", ErrLabel, i+1, v)
		}
		total += v
	}
	return total, nil
}

// binary says which side of the decision the label is on; known is false if
// it is on both.
func (l *Label) binary() (positive, known bool) {
	below := l.Likelihood[0] + l.Likelihood[1]
	above := l.Likelihood[2] + l.Likelihood[3]
	return above > below, below == 0 || above == 0
}

// An Example is one labelled recording.
type Example struct {
	Account, User string // whose; only whether they are the same matters. Copies of a recording are of one person
	Time          time.Time
	Recording     *features.Recording // Features, Metadata, FixedGain and Earlier are read
	Label         Label
}

// checkExamples verifies labels.
func checkExamples(examples []Example) error {
	for i := range examples {
		var total float64
		for _, v := range examples[i].Label.Likelihood {
			if !(v >= 0 && v <= 1) {
				return fmt.Errorf("%w: example %d: a likelihood is %v, want 0 to 1", ErrLabel, i, v)
			}
			total += v
		}
		if total == 0 {
			return fmt.Errorf("%w: example %d is impossible in every band", ErrLabel, i)
		}
		if r := examples[i].Recording; r == nil || r.Features.Schema != features.VoiceSchema() {
			return fmt.Errorf("%w: example %d has no features of schema %s", ErrLabel, i, features.VoiceSchema().Name())
		}
	}
	return nil
}
