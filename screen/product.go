package screen

// Product is the kind of prediction that a session asks for.
type Product uint8

// The values of Product.
const (
	DepressionAnxiety  Product = iota + 1 // both, by severity
	DepressionBinary                      // presence or absence
	DepressionSeverity                    // three classes
	AnxietySeverity                       // four classes
	DeepfakeBinary                        // risk that the voice is synthetic
)

var products = NewEnum[Product]("product", "depression_anxiety", "depression_binary", "depression_severity", "anxiety_severity", "deepfake")

// Valid reports whether p is one of the values; the zero value is not.
func (p Product) Valid() bool { return products.Valid(p) }

func (p Product) String() string                { return products.String(p) }
func (p Product) MarshalText() ([]byte, error)  { return products.MarshalText(p) }
func (p *Product) UnmarshalText(b []byte) error { return products.Unmarshal(p, b) }

// Categories returns the categories that the product scores, in the order of
// the results; nil for an invalid product. The slice is the caller's.
func (p Product) Categories() []Category {
	switch p {
	case DepressionAnxiety:
		return []Category{Depression, Anxiety}
	case DepressionBinary, DepressionSeverity:
		return []Category{Depression}
	case AnxietySeverity:
		return []Category{Anxiety}
	case DeepfakeBinary:
		return []Category{Deepfake}
	}
	return nil
}

// Binary reports whether the result is a yes or no instead of a class.
func (p Product) Binary() bool { return p == DepressionBinary || p == DeepfakeBinary }
