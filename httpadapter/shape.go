package httpadapter

import (
	"math"
	"strconv"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

// timeFormat is that of every timestamp, in UTC.
const timeFormat = "2006-01-02 15:04:05"

// disclaimer goes with every deepfake result.
const disclaimer = "Investigational decision-support signal. It is not a standalone determination that a voice is authentic, synthetic or manipulated."

// prediction is the result of a session about depression or anxiety. A nil field
// is not known yet or was not asked for.
type prediction struct {
	SessionID                string           `json:"session_id,omitempty"` // in listings
	ActualScore              actualScore      `json:"actual_score"`
	CreatedAt                string           `json:"created_at"`
	UpdatedAt                string           `json:"updated_at"`
	IsCalibrated             bool             `json:"is_calibrated"`
	ModelCategory            *string          `json:"model_category"`
	ModelGranularity         *string          `json:"model_granularity"`
	PredictError             *predictionError `json:"predict_error"`
	PredictedScore           *string          `json:"predicted_score"`
	PredictedScoreDepression *string          `json:"predicted_score_depression"`
	PredictedScoreAnxiety    *string          `json:"predicted_score_anxiety"`
	Status                   string           `json:"status"`
	Detail                   *detail          `json:"detail,omitempty"`
}

// failure is the body of status 417.
type failure struct {
	ActualScore      actualScore      `json:"actual_score"`
	CreatedAt        string           `json:"created_at"`
	UpdatedAt        string           `json:"updated_at"`
	IsCalibrated     bool             `json:"is_calibrated"`
	ModelCategory    *string          `json:"model_category"`
	ModelGranularity *string          `json:"model_granularity"`
	PredictError     *predictionError `json:"predict_error"`
	PredictedScore   *string          `json:"predicted_score"`
	Status           string           `json:"status"`
	Detail           *detail          `json:"detail,omitempty"`
}

// deepfake is the result of a session of the deepfake product. PredictError is
// present in listings, for sessions that failed.
type deepfake struct {
	SessionID              string           `json:"session_id,omitempty"` // in listings
	CreatedAt              string           `json:"created_at"`
	UpdatedAt              string           `json:"updated_at"`
	Disclaimer             string           `json:"disclaimer"`
	IsCalibrated           bool             `json:"is_calibrated"`
	ModelCategory          *string          `json:"model_category"`
	ModelGranularity       *string          `json:"model_granularity"`
	PredictError           *predictionError `json:"predict_error,omitempty"`
	PredictedIsDeepfake    *bool            `json:"predicted_is_deepfake"`
	PredictedDeepfakeScore *float64         `json:"predicted_deepfake_score"`
	PredictedScore         *string          `json:"predicted_score"`
	Status                 string           `json:"status"`
	Detail                 *detail          `json:"detail,omitempty"`
}

// actualScore holds the labels from feedback, and is empty without feedback. The
// last two fields are present in listings. The label of the interview comes first:
// a published client reads the first member that is not a PHQ as the label.
type actualScore struct {
	DepressionBinary string `json:"depression_binary,omitempty"`
	PHQ2             []int  `json:"phq_2,omitempty"`
	PHQ9             []int  `json:"phq_9,omitempty"`
	GAD7             []int  `json:"gad_7,omitempty"`
	AnxietySub       []int  `json:"anxiety_sub,omitempty"`
	DepressionSub    []int  `json:"depression_sub,omitempty"`
}

// predictionError is the reason for a missing score. AdditionalData is present in
// listings.
type predictionError struct {
	Error          string             `json:"error"`
	Message        string             `json:"message"`
	AdditionalData map[string]float64 `json:"additional_data,omitzero"`
}

// newItem returns a result in the form of a listing.
func newItem(r *voicescreen.Result, full bool) any {
	var e *predictionError
	if e = newPredictionError(r); e != nil {
		e.AdditionalData = map[string]float64{}
		for name, v := range r.Failure.Data {
			if isFinite(v) {
				e.AdditionalData[name] = v
			}
		}
	}
	if r.Product == screen.DeepfakeBinary {
		d := newDeepfake(r, full)
		d.SessionID, d.PredictError = r.SessionID, e
		return d
	}
	p := newPrediction(r, full)
	p.SessionID, p.PredictError = r.SessionID, e
	p.ActualScore.AnxietySub = r.Labels.GAD7
	p.ActualScore.DepressionSub = r.Labels.PHQ9
	if r.Labels.PHQ9 == nil {
		p.ActualScore.DepressionSub = r.Labels.PHQ2
	}
	return p
}

func newPrediction(r *voicescreen.Result, full bool) *prediction {
	p := &prediction{
		ActualScore:      newActualScore(&r.Labels),
		CreatedAt:        stamp(r.CreatedAt),
		UpdatedAt:        stamp(r.UpdatedAt),
		IsCalibrated:     r.Calibrated,
		ModelCategory:    categories(r.Product),
		ModelGranularity: granularity(r.Product),
		Status:           r.Status.String(),
		Detail:           newDetail(r, full),
	}
	for i := range r.Scores {
		s := &r.Scores[i]
		text := scoreText(s, r.Product)
		if i == 0 { // the first category of the product
			p.PredictedScore = text
		}
		switch s.Category {
		case screen.Depression:
			p.PredictedScoreDepression = text
		case screen.Anxiety:
			p.PredictedScoreAnxiety = text
		}
	}
	return p
}

func newFailure(r *voicescreen.Result, full bool) *failure {
	f := &failure{
		ActualScore:      newActualScore(&r.Labels),
		CreatedAt:        stamp(r.CreatedAt),
		UpdatedAt:        stamp(r.UpdatedAt),
		ModelCategory:    categories(r.Product),
		ModelGranularity: granularity(r.Product),
		PredictError:     newPredictionError(r),
		Status:           screen.StatusFailed.String(),
		Detail:           newDetail(r, full),
	}
	if r.Status == screen.StatusInitiated {
		f.PredictError = &predictionError{Error: screen.CodeNotSubmitted, Message: "No audio file was submitted for this session"}
	}
	return f
}

func newDeepfake(r *voicescreen.Result, full bool) *deepfake {
	d := &deepfake{
		CreatedAt:        stamp(r.CreatedAt),
		UpdatedAt:        stamp(r.UpdatedAt),
		Disclaimer:       disclaimer,
		IsCalibrated:     r.Calibrated,
		ModelCategory:    categories(r.Product),
		ModelGranularity: granularity(r.Product),
		Status:           r.Status.String(),
		Detail:           newDetail(r, full),
	}
	for i := range r.Scores {
		s := &r.Scores[i]
		if s.Category != screen.Deepfake || !isFinite(s.Probability) {
			continue
		}
		is := s.IsPositive()
		text := strconv.FormatBool(is)
		p := min(max(s.Probability, 0), 1)
		score := math.Round(p*1e4) / 100 // percent, with two decimals
		if p < s.Band.High && score >= 100*s.Band.High {
			score = math.Floor(p*1e4) / 100 // as the decision is
		}
		d.PredictedIsDeepfake, d.PredictedScore, d.PredictedDeepfakeScore = &is, &text, &score
	}
	return d
}

func newActualScore(l *screen.Labels) actualScore {
	s := actualScore{PHQ2: l.PHQ2, PHQ9: l.PHQ9, GAD7: l.GAD7}
	if l.Depression != 0 {
		s.DepressionBinary = l.Depression.String()
	}
	return s
}

func newPredictionError(r *voicescreen.Result) *predictionError {
	if r.Failure == nil {
		return nil
	}
	return &predictionError{Error: r.Failure.Code, Message: r.Failure.Message}
}

// scoreText returns the class of a score or, for a binary product, its decision;
// nil if the model gave neither.
func scoreText(s *screen.Score, p screen.Product) *string {
	text := ""
	if s.Severity.Valid() {
		text = s.Severity.String()
	}
	if p.Binary() {
		switch s.Decision {
		case screen.Positive:
			text = "true"
		case screen.Negative:
			text = "false"
		case screen.Indeterminate:
			text = "additional_consideration_required"
		}
	}
	if text == "" {
		return nil
	}
	return &text
}

// categories returns the value of model_category; nil before the submission.
func categories(p screen.Product) *string {
	text := ""
	for _, c := range p.Categories() {
		if text != "" {
			text += ","
		}
		text += c.String()
	}
	if text == "" {
		return nil
	}
	return &text
}

// granularity returns the value of model_granularity; nil before the submission.
func granularity(p screen.Product) *string {
	text := "severity"
	switch {
	case !p.Valid():
		return nil
	case p.Binary():
		text = "binary"
	}
	return &text
}

func stamp(t time.Time) string { return t.UTC().Format(timeFormat) }

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
