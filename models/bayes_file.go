package models

import (
	"io"

	"github.com/voicescreen/voicescreen/screen"
)

// BayesFormat is the format of the files of [Bayes] models.
const BayesFormat = "voicescreen-model/4"

// BandScores are the lowest questionnaire scores of the second, third and fourth
// band of PHQ-9 and of GAD-7: minimal below 5, mild below 10, moderate below 15,
// severe from 15 (Kroenke et al. 2001, Spitzer et al. 2006; the two upper bands of
// PHQ-9 are one here).
var BandScores = [3]int{5, 10, 15}

// DecisionBand is the index in BandScores of the score 10: Score.Probability is that
// of 10 or more.
const DecisionBand = 1

// BayesFile is a model of the four bands of a questionnaire given the features
// of a voice, by proportional odds (McCullagh 1980):
//
//	P(score ≥ BandScores[k]) = 1/(1 + exp(θk − η)),  η = Σ weight·z,
//
// with z the features standardised within sex and way of speaking, as much speech
// would show them. Weights and thresholds have a normal distribution, with a mean
// and a covariance. See [Bayes] for the score. Files are JSON; a member that is missing, unknown,
// repeated or out of range makes [Load] refuse the file.
type BayesFile struct {
	Format      string          `json:"format"` // BayesFormat
	Name        string          `json:"name"`
	Version     string          `json:"version"`
	Category    screen.Category `json:"category"` // Depression or Anxiety
	Schema      string          `json:"schema"`   // of the features: "voice/1"
	Description string          `json:"description"`

	Thresholds    []float64 `json:"thresholds"` // θ, ascending, one for each of BandScores, logits
	Cuts          []Cut     `json:"cuts"`       // where each class but the first begins
	Indeterminate Band      `json:"indeterminate"`
	Clip          float64   `json:"clip"` // greatest |z|, in standard deviations, > 0

	// Sex gives the probability of a female voice if the metadata has neither
	// Female nor Male. The logarithms of these features are assumed to be normal,
	// and independent given the sex.
	Sex []SexFeature `json:"sex"`

	// Speech is what is assumed about a way of speaking that is not given.
	Speech SpeechWeights `json:"speech"`

	// SampledAt is the duration of speech, in seconds, of the Sampling of the
	// Features, > 0.
	SampledAt float64 `json:"sampled_at_s"`

	// Baseline is the weight of a person's earlier recordings against the norms,
	// 0 to 1; see Bayes.
	Baseline float64 `json:"baseline"`

	IsCalibrated bool    `json:"is_calibrated"` // on labelled recordings
	CalibratedOn string  `json:"calibrated_on"` // which ones, in words; "" if not calibrated
	Labels       *Labels `json:"labels"`        // their numbers; null if none

	// Adapted says which recordings without labels the norms and the correlation
	// were adapted to; absent if to none.
	Adapted *Adapted `json:"adapted,omitempty"`

	TrainedOn []Data   `json:"trained_on"`
	Metrics   []Metric `json:"metrics"`
	Licence   string   `json:"licence"` // of the weights

	Features []BayesFeature `json:"features"`

	// Correlation is the correlation matrix of the standardised Features within
	// sex and way of speaking, in their order, without sampling error. Features that
	// were not measured, or on little speech, are inferred by it.
	Correlation [][]float64 `json:"correlation"`

	// Covariance is the covariance matrix of the weights, in the order of
	// Features, and of θ2, ln(θ2 − θ1) and ln(θ3 − θ2) after them.
	Covariance [][]float64 `json:"covariance"`
}

// Cut is the beginning of a class: a recording whose P(score ≥ Score) is at least
// Probability is in this class or a higher one.
type Cut struct {
	Score       int     `json:"score"` // one of BandScores
	Probability float64 `json:"probability"`
}

// Spread is the mean and the standard deviation of a distribution.
type Spread struct {
	Center float64 `json:"center"` // mean
	Scale  float64 `json:"scale"`  // standard deviation, > 0
}

// SexFeature is one feature that distinguishes female from male voices.
type SexFeature struct {
	Name   string `json:"name"`
	Female Spread `json:"female"` // of the natural logarithm of the value in its unit
	Male   Spread `json:"male"`
}

// BayesFeature is one term of the linear predictor of a BayesFile.
type BayesFeature struct {
	Name string `json:"name"` // of the schema, or of the mean over Of
	Unit string `json:"unit"`

	// Of names the features of the schema, of one unit, whose transforms' mean
	// this is. Empty: the feature Name alone.
	Of []string `json:"of,omitempty"`

	Transform Transform `json:"transform"`
	Norms     Norms     `json:"norms"`    // of the transformed feature
	Sampling  Sampling  `json:"sampling"` // its error on little speech
	Noise     Noise     `json:"noise"`

	Weight float64 `json:"weight"` // logits for one standard deviation of the norm

	// Stability is the share of the variance within sex that stays the same
	// from one recording of a person to the next, 0 to below 1.
	Stability float64 `json:"stability"`

	// FixedGain is set if the feature needs recordings of equal gain, such as a
	// level.
	FixedGain bool `json:"fixed_gain"`
}

// Labels counts the labels that a model learned from. It contains no identifiers.
type Labels struct {
	Sessions  int    `json:"sessions"`
	Users     int    `json:"users"`
	Accounts  int    `json:"accounts"`
	PHQ9      int    `json:"phq_9"` // sessions with this label
	PHQ2      int    `json:"phq_2"`
	GAD7      int    `json:"gad_7"`
	Interview int    `json:"interview"`
	From      string `json:"from"` // days of the first and the last submission, as 2006-01-02; "" if unknown
	To        string `json:"to"`
}

// Adapted counts the recordings without labels that the norms of a model were adapted
// to. It contains no identifiers.
type Adapted struct {
	Sessions int     `json:"sessions"`
	People   int     `json:"people"`
	Accounts int     `json:"accounts"`
	From     string  `json:"from"` // days of the first and the last submission, as 2006-01-02; "" if unknown
	To       string  `json:"to"`
	BaseRate float64 `json:"base_rate"` // stated share of these people with a score of 10 or more; 0 if not stated
}

// ReadBayes reads and checks a model file of BayesFormat. An error about the
// contents of the file matches ErrModel.
func ReadBayes(r io.Reader) (*BayesFile, error) {
	b, _, err := readModel(r, BayesFormat)
	if err != nil {
		return nil, err
	}
	var f BayesFile
	if err := decode(b, &f); err != nil {
		return nil, err
	}
	if err := f.Check(); err != nil {
		return nil, err
	}
	return &f, nil
}

// Write checks the file and writes it as indented JSON, with a line for each feature
// and each row of a matrix. Equal files give equal bytes. The error is a *FileError
// or one of w.
func (f *BayesFile) Write(w io.Writer) error {
	if err := f.Check(); err != nil {
		return err
	}
	head := *f
	head.Features, head.Correlation, head.Covariance = nil, nil, nil
	return writeModel(w, &head,
		newLines("features", f.Features), newLines("correlation", f.Correlation), newLines("covariance", f.Covariance))
}
