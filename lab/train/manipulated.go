package train

import "math"

// manipulatedShare is the share of the synthetic voices that the second predictor of the
// deepfake task supposes to be manipulated ones: 40 of the 861 of the training rows are.
const manipulatedShare = 0.05

// manipulatedDecoder is the decoder that all manipulated voices imitate. Held-out rows of
// it are scored without the second predictor. Those of people and of other decoders are
// scored with it, so that its false alarms count.
const manipulatedDecoder = "phasevocoder"

// toScore is the model that scores a held-out row.
func (t *trainer) toScore(m *predictor, row int) *predictor {
	if r := &t.train[row]; m.second == nil || !r.Positive || r.Family() != manipulatedDecoder {
		return m
	}
	return &predictor{Design: m.Design, linear: m.linear}
}

// manipulatedExamples returns the designs, classes and weights that the second predictor of
// the deepfake task is fitted to: of the recordings of people among the training rows with
// the given indices, in all copies, and of the manipulated voices made of them. Both
// classes have the same weight, and each recording its own in both. Without voices there
// are none.
func (t *trainer) manipulatedExamples(m *predictor, index []int) (x [][]float64, y []bool, w []float64) {
	if t.manipulated == nil {
		return nil, nil, nil
	}
	weights := rowWeights(t.train, index)
	var all, made float64
	for k, i := range index {
		if t.train[i].Positive {
			continue
		}
		all += weights[k]
		if len(t.manipulated[i]) > 0 {
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
		for _, v := range t.manipulated[i] {
			e.add(m, v.segments, true, weights[k]*all/made/float64(len(t.manipulated[i])))
		}
	}
	return e.x, e.y, e.w
}

// rarely moves the intercept of a predictor of manipulated voices, fitted with as many of
// them as of people, to their share.
func rarely(intercept float64) float64 {
	return intercept + math.Log(manipulatedShare/(1-manipulatedShare))
}
