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

// AllAccounts is the key of the thresholds for every account without its own.
const AllAccounts = "*"

// ErrThresholds is wrapped by every error about invalid thresholds.
var ErrThresholds = errors.New("screen: thresholds do not fit")

// Thresholds replace those of a model for one customer: they map a probability
// to a decision and a class.
type Thresholds struct {
	// Model and Version name the model that the thresholds were chosen for; ""
	// stands for every model and every version. The scores of another model,
	// whose probabilities may have another meaning, stay unchanged.
	Model   string `json:"model,omitempty"`
	Version string `json:"version,omitempty"`

	// A probability below Low is Negative, from High on Positive, and between
	// them Indeterminate. Both are 0 to 1, or nil for the decision of the model.
	// They are thresholds of the probability that is shown, after base rate and
	// prior, and do not move with either.
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`

	// Classes are the probabilities at which each class but the first begins,
	// ascending; nil for the class of the model.
	Classes []float64 `json:"classes,omitempty"`

	ChosenOn string `json:"chosen_on,omitempty"` // the recordings, in words
}

// Check returns an error that wraps ErrThresholds if t does not fit the scores
// of category c.
func (t *Thresholds) Check(c Category) error {
	switch {
	case (t.Low == nil) != (t.High == nil):
		return fmt.Errorf("%w: only one of low and high is given, want both or neither", ErrThresholds)
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

// Apply sets the Decision and the Severity of s by its Probability. A doubtful
// score (see [Score.Doubtful]) stays Indeterminate, a score without a class gets
// none, and a score of another model stays unchanged.
func (t *Thresholds) Apply(s *Score) {
	if t.Model != "" && t.Model != s.Model || t.Version != "" && t.Version != s.Version {
		return
	}
	if t.Low != nil {
		s.Decide(Band{Low: *t.Low, High: *t.High})
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

// AccountThresholds are the thresholds by account and category. The key "" is
// the account without a name, AllAccounts every account that has no key.
type AccountThresholds map[string]map[Category]Thresholds

// Check returns an error that wraps ErrThresholds if any of the thresholds does
// not fit its category.
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

// Apply applies the thresholds of the account to the score, or else those of
// AllAccounts.
func (a AccountThresholds) Apply(account string, s *Score) {
	for _, name := range []string{account, AllAccounts} {
		if t, ok := a[name][s.Category]; ok {
			t.Apply(s)
			return
		}
	}
}

// maxAccounts is the greatest number of accounts in a file of thresholds.
// Chosen: an account takes up to 1.5 kB of memory, all together less than 1 MiB.
// AllAccounts serves an installation with more accounts.
const maxAccounts = 500

// thresholdsFile is the shape of a file of thresholds.
type thresholdsFile struct {
	Format   string            `json:"format"`
	Accounts AccountThresholds `json:"accounts"`
}

// maxThresholds is the size of the largest file of thresholds that is read, in
// bytes. Chosen: 4 kB for each account.
const maxThresholds = 2 << 20

// ReadThresholds reads a file of thresholds with up to 500 accounts and 2 MiB,
// which WriteThresholds or a person wrote. An unknown field is an error; of a
// repeated field the last counts. An error about the contents wraps
// ErrThresholds.
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

// WriteThresholds writes a file that ReadThresholds reads. An error about the
// thresholds wraps ErrThresholds; other errors are those of w.
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

// Clone returns a deep copy of a.
func (a AccountThresholds) Clone() AccountThresholds {
	if a == nil {
		return nil
	}
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
