package store

import (
	"fmt"
	"slices"
	"time"

	"github.com/voicescreen/voicescreen/models"
)

// State is where a session stands. It only ever moves forward, but that a
// Running session whose lease ran out may go back to Queued.
type State uint8

const (
	Initiated State = iota + 1 // consent was given, no audio has come
	Queued                     // audio is stored and waits
	Running                    // a worker holds the lease
	Succeeded                  // final: there are scores
	Failed                     // final: there is a Failure
)

var stateNames = []string{"initiated", "queued", "running", "succeeded", "failed"}

func (s State) String() string {
	if s == 0 || int(s) > len(stateNames) {
		return fmt.Sprintf("State(%d)", uint8(s))
	}
	return stateNames[s-1]
}

func (s State) MarshalText() ([]byte, error) {
	if s == 0 || int(s) > len(stateNames) {
		return nil, fmt.Errorf("store: %d is no state", uint8(s))
	}
	return []byte(stateNames[s-1]), nil
}

func (s *State) UnmarshalText(b []byte) error {
	i := slices.Index(stateNames, string(b))
	if i < 0 {
		return fmt.Errorf("store: unknown state %q", b)
	}
	*s = State(i + 1)
	return nil
}

// Final says whether the session has its result.
func (s State) Final() bool { return s == Succeeded || s == Failed }

// Product is what is predicted from a session's recording.
type Product uint8

const (
	DepressionAnxiety  Product = iota + 1 // both, by severity
	DepressionBinary                      // presence or absence
	DepressionSeverity                    // three classes
	AnxietySeverity                       // four classes
	Deepfake                              // risk that the voice is synthetic
)

var productNames = []string{"depression_anxiety", "depression_binary", "depression_severity", "anxiety_severity", "deepfake"}

// Valid says whether p is one of the products.
func (p Product) Valid() bool { return p >= DepressionAnxiety && p <= Deepfake }

func (p Product) String() string {
	if !p.Valid() {
		return fmt.Sprintf("Product(%d)", uint8(p))
	}
	return productNames[p-1]
}

func (p Product) MarshalText() ([]byte, error) {
	if !p.Valid() {
		return nil, fmt.Errorf("store: %d is no product", uint8(p))
	}
	return []byte(productNames[p-1]), nil
}

func (p *Product) UnmarshalText(b []byte) error {
	i := slices.Index(productNames, string(b))
	if i < 0 {
		return fmt.Errorf("store: unknown product %q", b)
	}
	*p = Product(i + 1)
	return nil
}

// Categories returns what the product scores, in the order of the results.
func (p Product) Categories() []models.Category {
	switch p {
	case DepressionAnxiety:
		return []models.Category{models.Depression, models.Anxiety}
	case DepressionBinary, DepressionSeverity:
		return []models.Category{models.Depression}
	case AnxietySeverity:
		return []models.Category{models.Anxiety}
	case Deepfake:
		return []models.Category{models.Deepfake}
	}
	return nil
}

// Binary says whether the product's result is a yes or no rather than a class.
func (p Product) Binary() bool { return p == DepressionBinary || p == Deepfake }

// Session is one consented prediction, from the consent to the labels.
type Session struct {
	Account   string          `json:"account"`
	ID        string          `json:"id"`
	UserID    string          `json:"user_id"`
	Metadata  models.Metadata `json:"metadata,omitzero"`
	State     State           `json:"state"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`

	// From the submission on.
	Product     Product   `json:"product,omitempty"`
	SubmittedAt time.Time `json:"submitted_at,omitzero"`
	Audio       string    `json:"audio,omitempty"`      // reference to the stored audio; "" when there is none
	Channel     int       `json:"channel,omitempty"`    // 1-based channel to analyse; 0 if the audio is mono
	FixedGain   bool      `json:"fixed_gain,omitempty"` // whether the level of the recording means something
	Baseline    bool      `json:"baseline,omitempty"`   // whether to compare it with the user's earlier ones

	// The queue. Due is when a worker may next take the session: at once when
	// it is queued, when the lease runs out while it is running, never (zero)
	// otherwise.
	Due      time.Time `json:"due,omitzero"`
	Owner    string    `json:"owner,omitempty"` // who holds the lease
	Token    uint64    `json:"token,omitempty"` // fencing token, one more for each lease
	Attempts int       `json:"attempts,omitempty"`

	// The result. Changes are not given scores and features: see Store.Update.
	Scores   []models.Score     `json:"scores,omitempty"`
	Features map[string]float64 `json:"features,omitempty"` // of schema voice/1; undefined ones are absent
	Failure  *Failure           `json:"failure,omitempty"`

	Labels Labels `json:"labels,omitzero"`

	// The notification that there is a result. Notify is when whoever the
	// account wants told is told next, never if it is zero; Notices is how
	// often it was tried.
	Notify  time.Time `json:"notify,omitzero"`
	Notices int       `json:"notices,omitempty"`
}

// Kept returns since when the session is kept with nothing left to do: since
// its UpdatedAt, so since it was made, got its result or was given a label. It
// is the zero time while a recording waits or is being analysed. See
// Store.Expire.
func (s *Session) Kept() time.Time {
	if s.State == Queued || s.State == Running {
		return time.Time{}
	}
	return s.UpdatedAt
}

// Failure says why a session has no scores.
type Failure struct {
	Code    string             `json:"code"`    // such as "audio_length_error"
	Message string             `json:"message"` // for people
	Data    map[string]float64 `json:"data,omitempty"`
}

// Labels is what feedback said about the person of a session. PHQ2 and PHQ9
// replace each other: at most one of them is set.
type Labels struct {
	PHQ2       []int     `json:"phq_2,omitempty"` // two items, 0 to 3 each
	PHQ9       []int     `json:"phq_9,omitempty"` // nine items, 0 to 3 each
	GAD7       []int     `json:"gad_7,omitempty"` // seven items, 0 to 3 each
	Depression Interview `json:"depression_binary,omitempty"`
	UpdatedAt  time.Time `json:"updated_at,omitzero"`
}

// Interview is the outcome of a clinical interview.
type Interview uint8

const (
	InterviewNegative Interview = iota + 1
	InterviewPositive
	InterviewUndecided // additional consideration required
)

var interviewNames = []string{"false", "true", "Additional_consideration_required"}

func (v Interview) String() string {
	if v == 0 || int(v) > len(interviewNames) {
		return fmt.Sprintf("Interview(%d)", uint8(v))
	}
	return interviewNames[v-1]
}

func (v Interview) MarshalText() ([]byte, error) {
	if v == 0 || int(v) > len(interviewNames) {
		return nil, fmt.Errorf("store: %d is no interview result", uint8(v))
	}
	return []byte(interviewNames[v-1]), nil
}

func (v *Interview) UnmarshalText(b []byte) error {
	i := slices.Index(interviewNames, string(b))
	if i < 0 {
		return fmt.Errorf("store: unknown interview result %q", b)
	}
	*v = Interview(i + 1)
	return nil
}
