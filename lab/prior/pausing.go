package prior

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/voicescreen/voicescreen/screen"
)

// A pausing is how the people of one sex pause in one way of speaking: means over
// people of the mean and the standard deviation of their pauses, in seconds, and of
// the number of their pauses per minute.
type pausing struct {
	mean, sd, perMinute float64
}

// voiceome is the pauses of 2,430 or so adults a way of speaking at their own
// microphones, in windows of 60 s, by a WebRTC detector (jim-schwoebel/voiceome,
// data/references/main_tasks: AveragePauseLength, StdPauseLength, UtterancePerMin less
// the last utterance; women and men).
var voiceome = map[screen.Speech][2]pausing{
	screen.FreeSpeech: {{0.85899, 1.19853, 24.3}, {0.76877, 1.08957, 26.2}},
	screen.Picture:    {{0.54622, 0.68637, 24.6}, {0.57005, 0.65364, 26.4}},
	screen.Reading:    {{0.28189, 0.30252, 24.0}, {0.33440, 0.34563, 24.7}},
}

// Spreads between people, as standard deviations over means. In the same table that
// of the mean pause is 1.21, 0.89 and 0.59 in women and 0.84, 0.89 and 1.53 in men
// (free speech, picture, reading), 0.99 in the mean; a few recordings with one long
// pause decide what it is in one group, so all have one. That of the number of pauses
// per minute is 0.40 to 0.50.
const (
	pauseSpread   = 1.0
	stretchSpread = 0.5
)

// stretchVaries is the standard deviation over the mean of the stretches of speech
// between two pauses of a person. Chosen: half of the stretches are then between 0.6
// and 1.3 times the mean.
const stretchVaries = 0.6

// longestPause is in seconds. Chosen: in a longer one the recording would have ended.
const longestPause = 12

// A speaker is how one person pauses.
type speaker struct {
	pause, stretch lognormal // seconds
}

// lognormal is the distribution of exp(μ + σ·N(0, 1)).
type lognormal struct{ mu, sigma float64 }

// newLognormal returns the one of the given mean and standard deviation over mean.
func newLognormal(mean, spread float64) lognormal {
	v := math.Log1p(spread * spread)
	return lognormal{math.Log(mean) - v/2, math.Sqrt(v)}
}

// at returns the value z standard deviations from the mean of the logarithm.
func (l lognormal) at(z float64) float64 { return math.Exp(l.mu + l.sigma*z) }

func (l lognormal) draw(rng *rand.Rand) float64 { return l.at(rng.NormFloat64()) }

func (l lognormal) mean() float64 { return math.Exp(l.mu + l.sigma*l.sigma/2) }

// newSpeaker returns the person of one sex (0 female, 1 male) in one way of speaking
// whose mean pause and mean stretch are so many standard deviations from the mean of
// their logarithms.
func newSpeaker(s screen.Speech, sex int, pause, stretch float64) speaker {
	p := voiceome[s][sex]
	return speaker{
		pause:   newLognormal(newLognormal(p.mean, pauseSpread).at(pause), p.sd/p.mean),
		stretch: newLognormal(newLognormal(60/p.perMinute-p.mean, stretchSpread).at(stretch), stretchVaries),
	}
}

// drawSpeaker draws a person.
func drawSpeaker(s screen.Speech, sex int, rng *rand.Rand) speaker {
	return newSpeaker(s, sex, rng.NormFloat64(), rng.NormFloat64())
}

// strata returns n values of N(0, 1), one from the middle of each of n parts of equal
// probability, in random order: a sample whose mean and spread are not left to chance.
func strata(n int, rng *rand.Rand) []float64 {
	x := make([]float64, n)
	for i, k := range rng.Perm(n) {
		x[i] = distuv.UnitNormal.Quantile((float64(k) + 0.5) / float64(n))
	}
	return x
}
