package dam

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// Name and Version are those of the model in its scores.
const (
	Name    = "dam"
	Version = "3.1"
)

// MinSpeech is the speech that the model needs, in seconds. Less speech is padded
// with silence, and the Coverage of a score is its share of MinSpeech.
const MinSpeech = chunkTime

// operating holds the thresholds of a task, and the parameters of its probability.
type operating struct {
	category screen.Category
	cuts     []float64 // of the classes; a score equal to a cut is in the lower one
	low      float64   // raw scores from low to high are Indeterminate
	high     float64
	mid      float64 // raw score with the probability share
	share    float64 // of people with PHQ-9 or GAD-7 ≥ 10
}

// The published thresholds, chosen by the publisher on labelled validation
// recordings. No band was published for anxiety: up to the threshold of
// GAD-7 ≥ 10 the decision is negative.
//
// No probability was published. That of depression is derived here from the
// published test figures (n = 7,034, 0.39 of them positive): at −0.6699
// sensitivity 0.581 and specificity 0.778, and a share of 0.19 between −1.033 and
// −0.654. If the scores of both groups are normal with one standard deviation σ,
// these three give means of −0.527 and −1.204 and σ = 0.698, hence an AUC of 0.754
// (published 0.760), and among the decided a sensitivity of 0.709 and a specificity
// of 0.735 (published 0.714 and 0.738): the assumption holds within rounding. Then
//
//	logit P(PHQ-9 ≥ 10 | s) = logit π + (μ₁ − μ₀)/σ² · (s − (μ₀ + μ₁)/2)
//
// No such figures were published for anxiety. Slope and likelihood ratio at the
// threshold of 10 are assumed to be those of depression.
var operations = [len(tasks)]operating{
	{screen.Depression, []float64{-0.6699, -0.2908}, -1.033, -0.654, depressionMid, 0.080},
	{screen.Anxiety, []float64{-0.7939, -0.2173, 0.1521}, -0.2173, -0.2173, depressionMid + (-0.2173 + 0.6699), 0.061},
}

const (
	slope         = 1.3889 // logits for each unit of raw score: (μ₁ − μ₀)/σ²
	depressionMid = -0.8658
)

// ScorerOptions configures Open. Nil and zero fields mean the default.
type ScorerOptions struct {
	Options

	// Depression and Anxiety are the shares of screened people with PHQ-9 ≥ 10
	// and GAD-7 ≥ 10 that the probabilities assume, above 0 and below 1. Default:
	// 0.080 and 0.061, those of US adults, as in the shipped models.
	Depression, Anxiety float64

	// SHA256 is the checksum that the file must have, in hexadecimal. Default:
	// any checksum is accepted.
	SHA256 string
}

// Model is the Scorer of depression and anxiety. It is safe for concurrent use.
type Model struct {
	network *Network
	read    [len(tasks)]operating
}

// newModel returns a scorer on a network of melBands bands and melFrames/2 frames.
// Its other sizes are free.
func newModel(n *Network, o *ScorerOptions) (*Model, error) {
	m := &Model{network: n, read: operations}
	for i, share := range []float64{o.Depression, o.Anxiety} {
		if share == 0 {
			continue
		}
		if !(share > 0 && share < 1) {
			return nil, fmt.Errorf("dam: base rate %v, want above 0 and below 1", share)
		}
		m.read[i].share = share
	}
	return m, nil
}

// Int8 reports whether the weights are rounded to eight bits (Options.Int8).
func (m *Model) Int8() bool { return m.network.Int8() }

// Info returns name, version and categories. The version ends in "-int8" where the weights
// are rounded to eight bits. Calibrated is false: the classes have
// the published thresholds, but the probabilities are not calibrated.
func (m *Model) Info() models.Info {
	return models.Info{Name: Name, Version: m.version(), Categories: []screen.Category{screen.Depression, screen.Anxiety}}
}

func (m *Model) version() string {
	if m.Int8() {
		return Version + "-int8"
	}
	return Version
}

// Score returns a depression and an anxiety score. Its input is the speech that
// dsp found in the recording, without pauses, or the whole recording if dsp found
// none. Silence fills the last 30 s. Every 30 s of speech take some seconds of
// processor time. The bounds of the interval are NaN, because they cannot be
// derived from the published figures.
func (m *Model) Score(ctx context.Context, in *features.Recording) ([]screen.Score, error) {
	defer runtime.KeepAlive(m.network) // its weights may be mapped from a file until nothing refers to it
	x := speech(in)
	raw, err := m.raw(ctx, x)
	if err != nil {
		return nil, fmt.Errorf("dam: %w", err)
	}
	seconds := float64(len(x)) / sampleRate
	scores := make([]screen.Score, 0, len(tasks))
	for i, s := range []float64{raw.Depression, raw.Anxiety} {
		score := m.read[i].score(s, min(seconds/MinSpeech, 1))
		score.Version, score.Cautions = m.version(), in.Cautions()
		score.Decide(score.Band) // again: the cautions count
		scores = append(scores, score)
	}
	return scores, nil
}

// speech returns the speech of the recording at sampleRate, or all samples if no
// speech was found. The slice is the caller's.
func speech(in *features.Recording) []float64 {
	x, rate := in.Native, in.NativeRate
	if len(x) == 0 {
		x, rate = in.Samples, dsp.SampleRate
	}
	if rate == sampleRate {
		x = append([]float64(nil), x...)
	} else {
		x = dsp.NewResampler(rate, sampleRate).Resample(nil, x)
	}
	if in.Analysis == nil || len(in.Analysis.Speech) == 0 {
		return x
	}
	n := 0 // speech is moved to the front, in place
	for _, s := range in.Analysis.Speech {
		from, to := int(s.Start*sampleRate), int(s.End*sampleRate)
		n += copy(x[n:], x[min(max(from, 0), len(x)):min(max(to, 0), len(x))])
	}
	return x[:n]
}

// raw runs the network over a recording at sampleRate, which it changes.
func (m *Model) raw(ctx context.Context, x []float64) (Scores, error) {
	parts := chunks(x)
	if len(parts) == 0 {
		parts = [][]float64{nil} // a chunk of silence
	}
	l := newLogMel()
	mel := make([]float32, melBands*melFrames)
	width := 2 * m.network.Shape().Width
	sum, one := make([]float32, width), make([]float32, width)
	for _, part := range parts {
		l.compute(mel, part)
		if _, err := m.network.Embed(ctx, one, mel); err != nil {
			return Scores{}, err
		}
		for i, v := range one {
			sum[i] += v / float32(len(parts))
		}
	}
	return m.network.Score(sum), nil
}

// probability is that of a questionnaire score of 10 or more at a raw score.
func (o *operating) probability(raw float64) float64 {
	return 1 / (1 + math.Exp(-math.Log(o.share/(1-o.share))-slope*(raw-o.mid)))
}

// band is the published band in terms of the probability, but not above one half
// (see [screen.Half]). A raw score equal to the upper threshold is below it.
func (o *operating) band() screen.Band {
	b := screen.Band{Low: o.probability(o.low), High: min(math.Nextafter(o.probability(o.high), 1), screen.Half)}
	if o.low == o.high {
		b.Low = b.High
	}
	return b.Of(o.category)
}

// score returns the score of a raw score.
func (o *operating) score(raw, coverage float64) screen.Score {
	s := screen.Score{
		Category: o.category, Model: Name, Version: Version, Prior: o.share,
		Probability: o.probability(raw), Low: math.NaN(), High: math.NaN(), Coverage: coverage,
		Contributions: []screen.Contribution{{Feature: "dam." + o.category.String(), Value: raw, Unit: "1", Logits: slope * (raw - o.mid)}},
	}
	class := 0
	for _, cut := range o.cuts {
		if raw > cut {
			class++
		}
	}
	s.Severity = o.category.AtLeast(o.category.Severities()[class], s.Probability)
	s.Decide(o.band())
	return s
}
