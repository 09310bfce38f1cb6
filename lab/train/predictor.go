package train

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/learn"
)

// unfamiliar is the share of the recordings, each beside ranges of others, that
// [screen.Unfamiliar] is said of. Chosen.
const unfamiliar = 0.01

// predictor is a fitted model before its calibration.
type predictor struct {
	*Design
	linear *learn.Coefficients
	others []other // see [models.File.Others]
}

// other is a further predictor, of a way of being positive.
type other struct {
	of string
	*learn.Coefficients
}

// predict is the predictor of one row of the design.
func (m *predictor) predict(z []float64) float64 {
	eta := m.linear.Predict(z)
	for _, o := range m.others {
		eta = dsp.LogAdd(eta, o.Predict(z))
	}
	return eta
}

// weigh gives the features of f, which are those of the design, their weights.
func (m *predictor) weigh(f *models.File) {
	for i := range f.Features {
		f.Features[i].Weight = stats.Significant(m.linear.Weights[i], 5)
	}
	for _, o := range m.others {
		f.Others = append(f.Others, models.Predictor{Of: o.of, Intercept: stats.Significant(o.Intercept, 5)})
		for i, w := range o.Weights {
			f.Features[i].Others = append(f.Features[i].Others, stats.Significant(w, 5))
		}
	}
}

// score is the mean predictor of the segments of a recording: of all of them,
// where [models.Linear] leaves out those in which too little was measured, if
// there are others.
func (m *predictor) score(segments []features.Vector) float64 {
	var sum float64
	for _, v := range segments {
		sum += m.predict(m.Row(v))
	}
	return sum / float64(len(segments))
}

// outside is the mean over the segments of the share of the measured features that lie
// outside their ranges in the training. It is what [models.File.Outside] bounds.
func (m *predictor) outside(segments []features.Vector) float64 {
	var sum float64
	for _, v := range segments {
		var out, measured float64
		for i, f := range m.features {
			if x := v.Values[m.columns[i]]; !math.IsNaN(x) {
				measured++
				out += float64(stats.Indicator(x < f.Low || x > f.High))
			}
		}
		sum += out / max(measured, 1)
	}
	return sum / float64(len(segments))
}
