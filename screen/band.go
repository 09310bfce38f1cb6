package screen

// Half is the shown probability from which a recording is at least the class in
// question: "72 of 100" never stands beside "no signs". No class of a model begins
// above Half, and no decision from Half on is Negative, unless a customer's own
// thresholds say so.
const Half = 0.5

// Band is the interval of shown probabilities that a rule leaves undecided:
// below Low the decision is Negative, from High on Positive, and between them
// Indeterminate. 0 ≤ Low ≤ High ≤ 1. If they are equal, nothing is left undecided.
// [Open] leaves every probability undecided. The zero Band says that the rule is
// not known.
type Band struct {
	Low  float64 `json:"low" cbor:"1,keyasint"`
	High float64 `json:"high" cbor:"2,keyasint"`
}

// Open is the band of a model whose decision stays open for every recording.
var Open = Band{Low: 0, High: 1}

// Decide returns the decision of b about a probability, 0 to 1. NaN is
// Indeterminate.
func (b Band) Decide(p float64) Decision {
	switch {
	case b == Open:
		return Indeterminate
	case p < b.Low:
		return Negative
	case p >= b.High:
		return Positive
	}
	return Indeterminate
}

// Of returns the band of a model as it is applied to the scores of category c. Its
// lower bound is at most [Half]. A deepfake score is Positive from Half on, whatever
// the model's own upper bound. Open stays Open.
func (b Band) Of(c Category) Band {
	if b == Open {
		return b
	}
	b.Low = min(b.Low, Half)
	if c == Deepfake {
		b.High = Half
	}
	return b
}

// Decide sets the Decision of s by b and its Probability, and keeps b as its Band.
// A doubtful score (see [Score.Doubtful]) is Indeterminate whatever b says.
func (s *Score) Decide(b Band) {
	s.Band, s.Decision = b, b.Decide(s.Probability)
	if s.Doubtful() {
		s.Decision = Indeterminate
	}
}

// DeriveDecision lets the Band decide, as [Band.Of] has it. Without a Band it sets a
// Decision that is empty: by the Severity, or else by [Half]. A deepfake score without a
// Band gets the one of its Decision, so that a prior decides anew. The service does this
// to each score of a model.
func (s *Score) DeriveDecision() {
	half := Band{Low: Half, High: Half}
	switch {
	case s.Band != Band{}:
		s.Decide(s.Band.Of(s.Category))
	case s.Category == Deepfake && s.Decision == Indeterminate && !s.Doubtful():
		s.Decide(Open)
	case s.Category == Deepfake && (s.Decision == Indeterminate || s.Decision == 0):
		s.Decide(half)
	case s.Category == Deepfake:
		s.Band = half
	case s.Decision != 0:
	case s.Doubtful():
		s.Decision = Indeterminate
	case s.Severity == 0:
		s.Decide(half)
	case s.Severity >= SeverityOf(s.Category, PositiveTotal):
		s.Decision = Positive
	default:
		s.Decision = Negative
	}
}

// IsPositive returns the answer of the score where the answer has no third value,
// as predicted_is_deepfake: whether its Probability reaches the upper threshold.
// What a band leaves undecided is not positive. A doubtful score has the answer
// that its band gives without the doubt.
func (s *Score) IsPositive() bool {
	if s.Doubtful() && s.Band != (Band{}) {
		return s.Band.Decide(s.Probability) == Positive
	}
	return s.Decision == Positive
}

// AtLeast returns the class of a score of category c whose model reports s: if
// the probability p of a questionnaire score of [PositiveTotal] or more is [Half] or
// more, the class is at least that of PositiveTotal.
func (c Category) AtLeast(s Severity, p float64) Severity {
	if from := SeverityOf(c, PositiveTotal); p >= Half && s < from {
		return from
	}
	return s
}
