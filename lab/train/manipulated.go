package train

import (
	"math"
	"slices"

	"github.com/voicescreen/voicescreen/models/learn"
)

// A manipulation is a way of changing pitch or tempo that leaves traces of its own, and
// the methods of [augment.Manipulated] that have it. The deepfake task has a predictor
// for each.
type manipulation struct {
	of      string
	methods []string
}

// manipulations are those of the spectrum, those of some periods each and those of longer
// segments. One predictor of all finds fewer of each (docs/DEEPFAKE-TRIALS.md).
var manipulations = []manipulation{
	{"pitch or tempo changed in the spectrum", []string{"phase vocoder"}},
	{"pitch or tempo changed by moving periods", []string{"resampled pitch", "psola"}},
	{"pitch or tempo changed by joining segments", []string{"joined pitch", "joined tempo"}},
}

// manipulatedShare is the share of the synthetic voices that each further predictor of the
// deepfake task supposes to be manipulated in its way. Of the 861 of the training rows 40
// are manipulated in any. Chosen: with 0.03 fewer such voices are found and 7.5 % of people
// are called synthetic in place of 8.0 (docs/DEEPFAKE-TRIALS.md).
const manipulatedShare = 0.05

// manipulatedDecoder is the decoder that all manipulated voices imitate. Held-out rows of
// it are scored by the first predictor alone. Those of people and of other decoders are
// scored by all, so that their false alarms count.
const manipulatedDecoder = "phasevocoder"

// toScore is the model that scores a held-out row.
func (t *trainer) toScore(m *predictor, row int) *predictor {
	if r := &t.train[row]; len(m.others) == 0 || !r.Positive || r.Family() != manipulatedDecoder {
		return m
	}
	return &predictor{Design: m.Design, linear: m.linear}
}

// manipulatedExamples returns the designs, classes and weights that the predictor of a
// manipulation is fitted to: of the recordings of people among the training rows with the
// given indices, in all copies, and of the voices made of them in that way. Both classes
// have the same weight, and each recording its own in both. Without voices there are none.
func (t *trainer) manipulatedExamples(m *predictor, index []int, kind manipulation) (x [][]float64, y []bool, w []float64) {
	if t.manipulated == nil {
		return nil, nil, nil
	}
	weights := rowWeights(t.train, index)
	voices := make([][]madeSpoof, len(index))
	var all, made float64
	for k, i := range index {
		if t.train[i].Positive {
			continue
		}
		all += weights[k]
		for _, v := range t.manipulated[i] {
			if slices.Contains(kind.methods, v.method) {
				voices[k] = append(voices[k], v)
			}
		}
		if len(voices[k]) > 0 {
			made += weights[k]
		}
	}
	if made == 0 {
		return nil, nil, nil
	}
	var e exampleSet
	for k, i := range index {
		if t.train[i].Positive {
			continue
		}
		for _, segments := range t.vectors[i] {
			e.add(m, segments, false, weights[k]/float64(len(t.vectors[i])))
		}
		for _, v := range voices[k] {
			e.add(m, v.segments, true, weights[k]*all/made/float64(len(voices[k])))
		}
	}
	return e.x, e.y, e.w
}

// rarely is the predictor of the manipulation: c, fitted with as many such voices as
// people, with its intercept moved to their share.
func (m *manipulation) rarely(c *learn.Coefficients) other {
	c.Intercept += math.Log(manipulatedShare / (1 - manipulatedShare))
	return other{m.of, c}
}
