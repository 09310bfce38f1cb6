package prior

import (
	"math"
	"math/rand/v2"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// noiseTerms are the features whose dependence on noise is measured and taken out:
// spreads of level and spectrum, which noise fills up.
var noiseTerms = []string{"level.sd_db", "level.range_db", spreadMFCC}

const (
	// noiseBelow is the signal-to-noise ratio in dB from which noise counts. Chosen:
	// the median of the recordings of the norms.
	noiseBelow = 36

	// noiseVoices is how many voices noise is added to. Chosen.
	noiseVoices = 16
)

// noiseLevels are in dB below the speech.
var noiseLevels = []float64{32, 26, 20, 14, 8}

// measureNoise adds noise to the first people whose recordings are clean, and returns
// for each of terms how its value falls below noiseBelow: the least squares slope
// within a person. The noise is white through one pole at 0, 0.5 and 0.9 in turn.
func measureNoise(voices []*heard, terms []models.BayesFeature) map[string]models.Noise {
	var clean []*heard
	for _, v := range voices {
		if v.alone.Get("quality.snr_db") > noiseBelow && len(clean) < noiseVoices {
			clean = append(clean, v)
		}
	}
	each := len(noiseLevels) + 1
	vectors := make([]features.Vector, len(clean)*each)
	inParallel(len(vectors), func(i int, a *dsp.Analyzer) {
		v := clean[i/each]
		rng := rand.New(rand.NewPCG(4, uint64(i/each))) // the same pauses for all levels
		x := assemble(v.pieces(), drawSpeaker(screen.FreeSpeech, v.side(), rng), 30, rng)
		if k := i % each; k > 0 {
			addNoise(x, noiseLevels[k-1], []float64{0, 0.5, 0.9}[i/each%3], rng)
		}
		vectors[i] = features.Extract(a.Analyze(x))
	})
	out := map[string]models.Noise{}
	for i := range terms {
		x := &terms[i]
		var sxx, sxy float64
		for p := range clean {
			var u, y []float64
			for _, v := range vectors[p*each : (p+1)*each] {
				u, y = append(u, max(noiseBelow-v.Get("quality.snr_db"), 0)), append(y, x.Value(v))
			}
			mu, my := dsp.Mean(u), dsp.Mean(y)
			for k := range u {
				sxx += (u[k] - mu) * (u[k] - mu)
				sxy += (u[k] - mu) * (y[k] - my)
			}
		}
		if slope := -sxy / sxx; dsp.Finite(slope) {
			out[x.Name] = models.Noise{PerDB: stats.Significant(slope, 3), Below: noiseBelow}
		}
	}
	return out
}

// addNoise adds noise of a level in dB below that of x.
func addNoise(x []float64, below, pole float64, rng *rand.Rand) {
	noise := make([]float64, len(x))
	var last, signal, power float64
	for i := range x {
		last = pole*last + rng.NormFloat64()
		noise[i] = last
		signal, power = signal+x[i]*x[i], power+last*last
	}
	gain := math.Sqrt(signal/power) * math.Pow(10, -below/20)
	for i := range x {
		x[i] += gain * noise[i]
	}
}
