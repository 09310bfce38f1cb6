package models

import "fmt"

// Category is what a score is about.
type Category uint8

const (
	Depression Category = iota + 1 // signs of a current depressive episode
	Anxiety                        // signs of anxiety
	Deepfake                       // signs that the voice is synthetic or manipulated
)

var categoryNames = names{"depression", "anxiety", "deepfake"}

func (c Category) String() string               { return categoryNames.name(uint8(c), "Category") }
func (c Category) MarshalText() ([]byte, error) { return categoryNames.marshal(uint8(c), "category") }
func (c *Category) UnmarshalText(b []byte) error {
	v, err := categoryNames.parse(b, "category")
	*c = Category(v)
	return err
}

// Decision is the binary outcome of a score.
type Decision uint8

const (
	Negative      Decision = iota + 1
	Positive               // signs are present
	Indeterminate          // within the band in which the model does not decide
)

var decisionNames = names{"negative", "positive", "indeterminate"}

func (d Decision) String() string               { return decisionNames.name(uint8(d), "Decision") }
func (d Decision) MarshalText() ([]byte, error) { return decisionNames.marshal(uint8(d), "decision") }
func (d *Decision) UnmarshalText(b []byte) error {
	v, err := decisionNames.parse(b, "decision")
	*d = Decision(v)
	return err
}

// SeverityNames returns the ordered class names of a category: three for
// Depression (PHQ-9 ≤ 9, 10–14, ≥ 15), four for Anxiety (GAD-7 ≤ 4, 5–9,
// 10–14, ≥ 15), none for Deepfake. The caller must not change the slice.
func SeverityNames(c Category) []string {
	switch c {
	case Depression:
		return depressionClasses
	case Anxiety:
		return anxietyClasses
	}
	return nil
}

var (
	depressionClasses = []string{"no_to_mild", "mild_to_moderate", "moderate_to_severe"}
	anxietyClasses    = []string{"no_or_minimal", "moderate", "moderately_severe", "severe"}
)

// PositiveTotal is the sum of PHQ-9 or GAD-7 from which a person counts as
// positive (Kroenke et al. 2001; Spitzer et al. 2006).
const PositiveTotal = 10

// severityFrom is the least sum of each class but the first.
var severityFrom = map[Category][]int{Depression: {10, 15}, Anxiety: {5, 10, 15}}

// SeverityOf is the 1-based index into SeverityNames(c) of the class of a sum
// of PHQ-9 or GAD-7; 0 for a category without classes.
func SeverityOf(c Category, total int) int {
	bounds, ok := severityFrom[c]
	if !ok {
		return 0
	}
	class := 1
	for _, from := range bounds {
		if total >= from {
			class++
		}
	}
	return class
}

// names spells the values 1, 2, … of a kind.
type names []string

func (n names) name(v uint8, kind string) string {
	if v == 0 || int(v) > len(n) {
		return fmt.Sprintf("%s(%d)", kind, v)
	}
	return n[v-1]
}

func (n names) marshal(v uint8, kind string) ([]byte, error) {
	if v == 0 || int(v) > len(n) {
		return nil, fmt.Errorf("models: %d is no %s", v, kind)
	}
	return []byte(n[v-1]), nil
}

func (n names) parse(b []byte, kind string) (uint8, error) {
	for i, s := range n {
		if s == string(b) {
			return uint8(i + 1), nil
		}
	}
	return 0, fmt.Errorf("models: unknown %s %q", kind, b)
}
