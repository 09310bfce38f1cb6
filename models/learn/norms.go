package learn

import (
	"math"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

const (
	// numWays is the number of ways of speaking.
	numWays = 3
	// numGroups is the number of norms of a feature: those of each way of speaking
	// for women, and then for men.
	numGroups = 2 * numWays
)

// spreadOf returns norm g of a feature, to be read or changed.
func spreadOf(x *models.BayesFeature, g int) *models.Spread {
	n := x.Norms.Of(screen.Speeches()[g%numWays])
	if g < numWays {
		return &n.Female
	}
	return &n.Male
}

// valueOf returns a feature of a recording as its norms have it; NaN if the feature
// does not count or was not measured.
func valueOf(x *models.BayesFeature, in *features.Recording) float64 {
	if x.FixedGain && !in.FixedGain {
		return math.NaN()
	}
	return x.Value(in.Features)
}

// noiseOf returns the variance of a feature's z from the sampling error.
func noiseOf(f *models.BayesFile, x *models.BayesFeature, in *features.Recording) float64 {
	return x.Sampling.At(in.Features.Get("speech.duration_s"), f.SampledAt)
}

// groupsOf returns the probability that a recording belongs to each norm.
func groupsOf(r *models.Row) (share [numGroups]float64) {
	for way, p := range r.Speech {
		share[way], share[numWays+way] = r.Female*p, (1-r.Female)*p
	}
	return share
}

// before returns the probability of each norm for a recording of which nothing was
// measured.
func before(f *models.BayesFile, in *features.Recording) (share [numGroups]float64) {
	female := 0.5
	switch in.Metadata.Gender {
	case screen.Female:
		female = 1
	case screen.Male:
		female = 0
	}
	ways := [numWays]float64{f.Speech.Free, f.Speech.Picture, f.Speech.Reading}
	if in.Speech.Valid() {
		ways = [numWays]float64{}
		ways[in.Speech-1] = 1
	}
	for way, p := range ways {
		share[way], share[numWays+way] = female*p, (1-female)*p
	}
	return share
}
