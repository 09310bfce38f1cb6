package screen

import (
	"slices"
	"strings"
)

// Metadata describes the person who speaks. Every field is optional; its zero
// value means "not given".
type Metadata struct {
	Age       int       `json:"age,omitempty" cbor:"1,keyasint,omitempty"` // years, > 0, at most MaxCount
	Gender    Gender    `json:"gender,omitempty" cbor:"2,keyasint,omitempty"`
	Race      Race      `json:"race,omitempty" cbor:"3,keyasint,omitempty"`
	Ethnicity Ethnicity `json:"ethnicity,omitempty" cbor:"4,keyasint,omitempty"`
	Zipcode   string    `json:"zipcode,omitempty" cbor:"5,keyasint,omitempty"`  // five digits
	English   *bool     `json:"language,omitempty" cbor:"6,keyasint,omitempty"` // whether the first language is English
	Weight    int       `json:"weight,omitempty" cbor:"7,keyasint,omitempty"`   // pounds, > 0, at most MaxCount
}

// Invalid returns the JSON names of the fields with an invalid value, in the
// order of the fields; nil if all are valid. The slice is the caller's.
func (m *Metadata) Invalid() []string {
	var names []string
	for _, f := range []struct {
		name  string
		valid bool
	}{
		{"age", isCount(m.Age)},
		{"gender", m.Gender == 0 || m.Gender.Valid()},
		{"race", m.Race == 0 || m.Race.Valid()},
		{"ethnicity", m.Ethnicity == 0 || m.Ethnicity.Valid()},
		{"zipcode", m.Zipcode == "" || isZipcode(m.Zipcode)},
		{"weight", isCount(m.Weight)},
	} {
		if !f.valid {
			names = append(names, f.name)
		}
	}
	return names
}

// isCount reports whether a store can hold n.
func isCount(n int) bool { return n >= 0 && n <= MaxCount }

// isZipcode matches ^[0-9]{5}$.
func isZipcode(s string) bool {
	return len(s) == 5 && !slices.ContainsFunc([]byte(s), func(c byte) bool { return c < '0' || c > '9' })
}

// Gender is one of the values that the service defines.
type Gender uint8

// The values of Gender.
const (
	Female Gender = iota + 1
	Male
	OtherGender
	GenderNotSpecified
	TransgenderFemale
	TransgenderMale
)

var genders = NewEnum[Gender]("gender", "Female", "Male", "Other", "Prefer Not to Specify", "Transgender Female", "Transgender Male")

// Valid reports whether g is one of the values; the zero value is not.
func (g Gender) Valid() bool { return genders.Valid(g) }

func (g Gender) String() string               { return genders.String(g) }
func (g Gender) MarshalText() ([]byte, error) { return genders.MarshalText(g) }
func (g *Gender) UnmarshalText(b []byte) (err error) {
	*g, err = ParseGender(string(b))
	return err
}

// ParseGender returns the Gender of a name, in upper or lower case.
// "non-binary" is OtherGender. The error does not repeat the name.
func ParseGender(s string) (Gender, error) {
	if strings.EqualFold(s, "non-binary") {
		return OtherGender, nil
	}
	return genders.ParseFold(s)
}

// Race is one of the values that the service defines, or OtherRace, which
// clients of the service send too.
type Race uint8

// The values of Race.
const (
	AmericanIndian Race = iota + 1
	Asian
	Black
	PacificIslander
	RaceNotSpecified
	TwoOrMoreRaces
	White
	OtherRace
)

var races = NewEnum[Race]("race",
	"American Indian or Alaskan Native", "Asian", "Black or African American",
	"Native Hawaiian or Pacific Islander", "Prefer Not to Specify", "Two or More Races", "White", "Other",
)

// Valid reports whether r is one of the values; the zero value is not.
func (r Race) Valid() bool { return races.Valid(r) }

func (r Race) String() string               { return races.String(r) }
func (r Race) MarshalText() ([]byte, error) { return races.MarshalText(r) }
func (r *Race) UnmarshalText(b []byte) (err error) {
	*r, err = ParseRace(string(b))
	return err
}

// ParseRace returns the Race of a name, in upper or lower case.
// "black or african-american" is Black. The error does not repeat the name.
func ParseRace(s string) (Race, error) {
	if strings.EqualFold(s, "black or african-american") {
		return Black, nil
	}
	return races.ParseFold(s)
}

// Ethnicity is one of the values that the service defines.
type Ethnicity uint8

// The values of Ethnicity.
const (
	Hispanic Ethnicity = iota + 1
	NotHispanic
)

var ethnicities = NewEnum[Ethnicity]("ethnicity", "Hispanic, Latino, or Spanish Origin", "Not Hispanic, Latino, or Spanish Origin")

// Valid reports whether e is one of the values; the zero value is not.
func (e Ethnicity) Valid() bool { return ethnicities.Valid(e) }

func (e Ethnicity) String() string               { return ethnicities.String(e) }
func (e Ethnicity) MarshalText() ([]byte, error) { return ethnicities.MarshalText(e) }
func (e *Ethnicity) UnmarshalText(b []byte) (err error) {
	*e, err = ParseEthnicity(string(b))
	return err
}

// ParseEthnicity returns the Ethnicity of a name, in upper or lower case. The
// error does not repeat the name.
func ParseEthnicity(s string) (Ethnicity, error) {
	return ethnicities.ParseFold(s)
}
