package screen

// Product is what is predicted from a session's recording.
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

// Valid says whether p is one of the values.
func (p Product) Valid() bool { return products.Valid(p) }

func (p Product) String() string                { return products.String(p) }
func (p Product) MarshalText() ([]byte, error)  { return products.MarshalText(p) }
func (p *Product) UnmarshalText(b []byte) error { return products.Unmarshal(p, b) }

// Categories returns what the product scores, in the order of the results.
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

// Binary says whether the product's result is a yes or no rather than a class.
func (p Product) Binary() bool { return p == DepressionBinary || p == DeepfakeBinary }
