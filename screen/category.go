package screen

// Category is what a score estimates.
type Category uint8

// The values of Category.
const (
	Depression Category = iota + 1 // signs of a current depressive episode
	Anxiety                        // signs of anxiety
	Deepfake                       // signs that the voice is synthetic or manipulated
)

var categories = NewEnum[Category]("category", "depression", "anxiety", "deepfake")

// Valid reports whether c is one of the values; the zero value is not.
func (c Category) Valid() bool { return categories.Valid(c) }

func (c Category) String() string                { return categories.String(c) }
func (c Category) MarshalText() ([]byte, error)  { return categories.MarshalText(c) }
func (c *Category) UnmarshalText(b []byte) error { return categories.Unmarshal(c, b) }

// Categories returns all categories, in the order in which scores are shown. The
// slice is the caller's.
func Categories() []Category { return []Category{Depression, Anxiety, Deepfake} }

// Decision is the binary outcome of a score.
type Decision uint8

// The values of Decision.
const (
	Negative      Decision = iota + 1
	Positive               // signs are present
	Indeterminate          // within the band in which the model does not decide
)

var decisions = NewEnum[Decision]("decision", "negative", "positive", "indeterminate")

// Valid reports whether d is one of the values; the zero value is not.
func (d Decision) Valid() bool { return decisions.Valid(d) }

func (d Decision) String() string                { return decisions.String(d) }
func (d Decision) MarshalText() ([]byte, error)  { return decisions.MarshalText(d) }
func (d *Decision) UnmarshalText(b []byte) error { return decisions.Unmarshal(d, b) }
