package screen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// ThresholdsFormat is the format of the files that ReadThresholds reads.
const ThresholdsFormat = "voicescreen-thresholds/1"

// AllAccounts is the account whose thresholds hold for every account that has
// none of its own.
const AllAccounts = "*"

// ErrThresholds is what an error about thresholds wraps.
var ErrThresholds = errors.New("screen: thresholds do not fit")

// Thresholds say what a probability means for one customer, in the place of
// what the model says.
type Thresholds struct {
	// Model and Version are what the thresholds were chosen for. They change
	// nothing in the scores of any other model, whose probabilities may mean
	// something else. Where Model is "", they hold for every model; where
	// Version is "", for every version.
	Model   string `json:"model,omitempty"`
	Version string `json:"version,omitempty"`

	// Below Low is Negative, above High Positive, and what lies between is
	// Indeterminate. Where they are equal there is no band: High and above it is
	// Positive. Both are 0 to 1, or nil for what the model says.
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`

	// Classes are the probabilities at which each class but the first begins,
	// ascending; nil for what the model says.
	Classes []float64 `json:"classes,omitempty"`

	ChosenOn string `json:"chosen_on,omitempty"` // in words
}

// Check returns an error that wraps ErrThresholds if t cannot be applied to
// scores of the category.
func (t *Thresholds) Check(c Category) error {
	switch {
	case (t.Low == nil) != (t.High == nil):
		return fmt.Errorf("%w: low and high stand together or not at all", ErrThresholds)
	case t.Low != nil && !(0 <= *t.Low && *t.Low <= *t.High && *t.High <= 1):
		return fmt.Errorf("%w: low is %v and high is %v, want 0 ≤ low ≤ high ≤ 1", ErrThresholds, *t.Low, *t.High)
	case t.Classes == nil:
		return nil
	case len(t.Classes) != len(c.Severities())-1:
		return fmt.Errorf("%w: %d classes, want %d thresholds for %v", ErrThresholds, len(t.Classes), max(len(c.Severities())-1, 0), c)
	}
	for i, v := range t.Classes {
		if math.IsNaN(v) || i > 0 && v < t.Classes[i-1] {
			return fmt.Errorf("%w: classes are %v, want ascending numbers", ErrThresholds, t.Classes)
		}
	}
	return nil
}

// Apply sets Decision and Severity of s by its Probability. A Decision stays
// Indeterminate for a Caution that forbids one. A score of another
// model, or one that has no class, keeps what is not spoken of.
func (t *Thresholds) Apply(s *Score) {
	if t.Model != "" && t.Model != s.Model || t.Version != "" && t.Version != s.Version {
		return
	}
	if t.Low != nil && !s.Doubtful() {
		switch {
		case s.Probability < *t.Low:
			s.Decision = Negative
		case s.Probability > *t.High, *t.Low == *t.High:
			s.Decision = Positive
		default:
			s.Decision = Indeterminate
		}
	}
	if t.Classes != nil && s.Severity > 0 {
		class := 0
		for _, from := range t.Classes {
			if s.Probability >= from {
				class++
			}
		}
		classes := s.Category.Severities()
		s.Severity = classes[min(class, len(classes)-1)]
	}
}

// AccountThresholds are the thresholds of each account, "" the one without a
// name and AllAccounts every other.
type AccountThresholds map[string]map[Category]Thresholds

// Check returns an error that wraps ErrThresholds if any cannot be applied.
func (a AccountThresholds) Check() error {
	for account, of := range a {
		for c, t := range of {
			if err := t.Check(c); err != nil {
				return fmt.Errorf("account %q, %v: %w", account, c, err)
			}
		}
	}
	return nil
}

// Apply applies to a score what holds for the account, if anything does.
func (a AccountThresholds) Apply(account string, s *Score) {
	for _, name := range []string{account, AllAccounts} {
		if t, ok := a[name][s.Category]; ok {
			t.Apply(s)
			return
		}
	}
}

// maxAccounts is how many accounts a file of thresholds may have. Chosen: what
// one takes of memory is up to 1.5 kB, and of all together less than 1 MiB; for
// more customers nobody chooses one by one, and AllAccounts is there for them.
const maxAccounts = 500

// thresholdsFile is what the file looks like.
type thresholdsFile struct {
	Format   string            `json:"format"`
	Accounts AccountThresholds `json:"accounts"`
}

// maxThresholds is the largest file of thresholds that is read. Chosen: 4 kB for
// each account.
const maxThresholds = 2 << 20

// ReadThresholds reads a file that WriteThresholds wrote, or a person: one of up
// to 500 accounts and 2 MiB. An unknown field is an error; of a field that is
// there twice the last counts. An error about the
// contents wraps ErrThresholds.
func ReadThresholds(r io.Reader) (AccountThresholds, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxThresholds+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxThresholds {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrThresholds, maxThresholds)
	}
	f := thresholdsFile{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrThresholds, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: something follows the file's object", ErrThresholds)
	}
	if f.Format != ThresholdsFormat {
		return nil, fmt.Errorf("%w: format is %.40q, want %q", ErrThresholds, f.Format, ThresholdsFormat)
	}
	if f.Accounts == nil {
		return nil, fmt.Errorf("%w: the file has no accounts", ErrThresholds)
	}
	if len(f.Accounts) > maxAccounts {
		return nil, fmt.Errorf("%w: %d accounts, want at most %d", ErrThresholds, len(f.Accounts), maxAccounts)
	}
	return f.Accounts, f.Accounts.Check()
}

// WriteThresholds writes a file that ReadThresholds reads. An error that is not
// of w wraps ErrThresholds.
func WriteThresholds(w io.Writer, a AccountThresholds) error {
	if err := a.Check(); err != nil {
		return err
	}
	if len(a) > maxAccounts {
		return fmt.Errorf("%w: %d accounts, want at most %d", ErrThresholds, len(a), maxAccounts)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(thresholdsFile{ThresholdsFormat, a})
}

// Clone returns a copy that shares nothing with a.
func (a AccountThresholds) Clone() AccountThresholds {
	out := make(AccountThresholds, len(a))
	for account, of := range a {
		out[account] = make(map[Category]Thresholds, len(of))
		for c, t := range of {
			t.Low, t.High, t.Classes = copied(t.Low), copied(t.High), slices.Clone(t.Classes)
			out[account][c] = t
		}
	}
	return out
}

func copied(p *float64) *float64 {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
