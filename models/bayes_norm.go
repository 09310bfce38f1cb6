package models

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
)

// Transform is the function of a feature whose distribution over people is near
// normal.
type Transform uint8

// The values of Transform.
const (
	Identity Transform = iota + 1 // x
	Log                           // ln x
	LogOdds                       // ln x/(1 − x), of a ratio
)

var transforms = screen.NewEnum[Transform]("transform", "identity", "log", "logit")

// Valid reports whether t is one of the values; the zero value is not.
func (t Transform) Valid() bool { return transforms.Valid(t) }

func (t Transform) String() string                { return transforms.String(t) }
func (t Transform) MarshalText() ([]byte, error)  { return transforms.MarshalText(t) }
func (t *Transform) UnmarshalText(b []byte) error { return transforms.Unmarshal(t, b) }

// Of returns the transformed x. At the ends of the range of Log and LogOdds and
// beyond them it is infinite: a pause ratio of 0 is lower than that of all others.
// It is NaN if x is NaN or infinite.
func (t Transform) Of(x float64) float64 {
	switch {
	case !dsp.Finite(x):
		return math.NaN()
	case t == Log:
		return math.Log(max(x, 0))
	case t == LogOdds && x >= 1:
		return math.Inf(1)
	case t == LogOdds:
		return logit(max(x, 0))
	}
	return x
}

// Inverse returns the x whose transformed value is y.
func (t Transform) Inverse(y float64) float64 {
	switch t {
	case Log:
		return math.Exp(y)
	case LogOdds:
		return dsp.Logistic(y)
	}
	return y
}

// Norm is the distribution of a transformed feature within each sex.
type Norm struct {
	Female Spread `json:"female"`
	Male   Spread `json:"male"`
}

// Norms is the Norm of each way of speaking.
type Norms struct {
	Free    Norm `json:"free"`
	Picture Norm `json:"picture"`
	Reading Norm `json:"reading"`
}

// Of returns the norm of a way of speaking, which must be valid. The caller may
// change it.
func (n *Norms) Of(s screen.Speech) *Norm {
	return [...]*Norm{&n.Free, &n.Picture, &n.Reading}[s-1]
}

// Alike returns equal norms for all ways of speaking.
func Alike(n Norm) Norms { return Norms{n, n, n} }

// Sampling is the error of a feature that was measured on little speech: on T
// seconds, z has the variance
//
//	Variance·(SampledAt/T)^Falls
//
// round the value that endless speech of this kind would have. SampledAt is that of
// the BayesFile.
type Sampling struct {
	Variance float64 `json:"variance"` // of z at SampledAt, ≥ 0
	Falls    float64 `json:"falls"`    // 0 to 2; 1 if the speech of any two seconds is independent
}

// leastSpeech is the duration of speech, in seconds, below which a sampling error
// does not grow further. Chosen: no recording is scored on less.
const leastSpeech = 1

// At returns the variance of z on speech of the given duration, with the SampledAt of
// the file, both in seconds. A duration that is NaN counts as SampledAt.
func (s Sampling) At(seconds, sampledAt float64) float64 {
	if s.Variance == 0 || math.IsNaN(seconds) {
		return s.Variance
	}
	return s.Variance * math.Pow(sampledAt/max(seconds, leastSpeech), s.Falls)
}

// Noise is how a transformed feature changes with the noise of the recording. Below
// a signal-to-noise ratio of Below it is PerDB lower for each decibel that is
// missing. Zero is no dependence.
type Noise struct {
	PerDB float64 `json:"per_db"`   // of the transformed feature
	Below float64 `json:"below_db"` // of quality.snr_db
}

// loss returns what the noise of a recording takes from the transformed feature.
func (n Noise) loss(v features.Vector) float64 {
	if snr := v.Get("quality.snr_db"); n.PerDB != 0 && dsp.Finite(snr) {
		return n.PerDB * max(n.Below-snr, 0)
	}
	return 0
}

// SpeechWeights is what is assumed about the way of speaking of a recording that
// does not give it.
type SpeechWeights struct {
	Free    float64 `json:"free"` // shares of recordings, which sum to 1
	Picture float64 `json:"picture"`
	Reading float64 `json:"reading"`

	// By names the Features by which the ways are distinguished, such as pauses;
	// may be empty.
	By []string `json:"by"`
}

// of returns the shares in the order of screen.Speeches.
func (w *SpeechWeights) of() [numSpeech]float64 {
	return [numSpeech]float64{w.Free, w.Picture, w.Reading}
}

// numSpeech is the number of ways of speaking.
const numSpeech = 3

// Value returns the feature as its norms have it: transformed, the mean over Of if
// there are several, and without the effect of noise. It is NaN if one of them was
// not measured, and infinite at the end of the range of the transform. v must be of
// the schema voice/1.
func (x *BayesFeature) Value(v features.Vector) float64 {
	y := x.mean(v)
	return y + x.Noise.loss(v)
}

// mean returns the mean of the transformed features of x.
func (x *BayesFeature) mean(v features.Vector) float64 {
	if len(x.Of) == 0 {
		return x.Transform.Of(v.Get(x.Name))
	}
	var sum float64
	for _, name := range x.Of {
		sum += x.Transform.Of(v.Get(name))
	}
	return sum / float64(len(x.Of))
}

// measure returns the feature in its Unit: the inverse transform of the mean over Of.
func (x *BayesFeature) measure(v features.Vector) float64 {
	if len(x.Of) == 0 {
		return v.Get(x.Name)
	}
	return x.Transform.Inverse(x.mean(v))
}

// Put sets the feature of v, or each of Of, to the value whose transform is y.
// Without noise [BayesFeature.Value] then returns y, up to rounding.
func (x *BayesFeature) Put(v features.Vector, y float64) {
	names := x.Of
	if len(names) == 0 {
		names = []string{x.Name}
	}
	for _, name := range names {
		v.Values[v.Schema.Index(name)] = x.Transform.Inverse(y)
	}
}
