package screen

// Severity is the class of a depression or anxiety score. The values of a
// category ascend; values of different categories are not comparable.
type Severity uint8

// The values of Severity. Three are of Depression, by PHQ-9 (Kroenke et al.
// 2001), four of Anxiety, by GAD-7 (Spitzer et al. 2006).
const (
	NoToMild         Severity = iota + 1 // PHQ-9 up to 9
	MildToModerate                       // PHQ-9 10 to 14
	ModerateToSevere                     // PHQ-9 15 and above

	NoOrMinimal      // GAD-7 up to 4
	Moderate         // GAD-7 5 to 9
	ModeratelySevere // GAD-7 10 to 14
	Severe           // GAD-7 15 and above
)

var severities = NewEnum[Severity]("severity", "no_to_mild", "mild_to_moderate", "moderate_to_severe",
	"no_or_minimal", "moderate", "moderately_severe", "severe")

// Valid reports whether s is one of the values; the zero value is not.
func (s Severity) Valid() bool { return severities.Valid(s) }

func (s Severity) String() string                { return severities.String(s) }
func (s Severity) MarshalText() ([]byte, error)  { return severities.MarshalText(s) }
func (s *Severity) UnmarshalText(b []byte) error { return severities.Unmarshal(s, b) }

// Severities lists the classes of a category in ascending order: three of
// Depression, four of Anxiety, none of Deepfake. The caller must not change
// the slice.
func (c Category) Severities() []Severity {
	switch c {
	case Depression:
		return depressionSeverities
	case Anxiety:
		return anxietySeverities
	}
	return nil
}

var (
	depressionSeverities = []Severity{NoToMild, MildToModerate, ModerateToSevere}
	anxietySeverities    = []Severity{NoOrMinimal, Moderate, ModeratelySevere, Severe}
)

// Rank returns the position of s among the classes of its category, from 1; 0 if
// s is invalid.
func (s Severity) Rank() int {
	switch {
	case !s.Valid():
		return 0
	case s >= NoOrMinimal:
		return int(s-NoOrMinimal) + 1
	}
	return int(s)
}

// PositiveTotal is the lowest sum of PHQ-9 or GAD-7 that counts as positive (Kroenke et al. 2001; Spitzer et al. 2006).
const PositiveTotal = 10

// severityFrom is the lowest sum of each class but the first.
var severityFrom = map[Category][]int{Depression: {10, 15}, Anxiety: {5, 10, 15}}

// SeverityOf returns the class of a sum of PHQ-9 or GAD-7; 0 for a category
// without classes.
func SeverityOf(c Category, total int) Severity {
	bounds, ok := severityFrom[c]
	if !ok {
		return 0
	}
	class := 0
	for _, from := range bounds {
		if total >= from {
			class++
		}
	}
	return c.Severities()[class]
}
