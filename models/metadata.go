package models

import (
	"fmt"
	"strings"
)

// Metadata is what the caller says about the person who speaks. Every field
// is optional; the zero value says nothing.
type Metadata struct {
	Age       int       `json:"age,omitempty"` // years, > 0
	Gender    Gender    `json:"gender,omitempty"`
	Race      Race      `json:"race,omitempty"`
	Ethnicity Ethnicity `json:"ethnicity,omitempty"`
	Zipcode   string    `json:"zipcode,omitempty"`  // five digits
	English   *bool     `json:"language,omitempty"` // whether the first language is English
	Weight    int       `json:"weight,omitempty"`   // pounds, > 0
}

// Gender is one of the values that the service defines.
type Gender uint8

const (
	Female Gender = iota + 1
	Male
	OtherGender
	GenderNotSpecified
	TransgenderFemale
	TransgenderMale
)

var genderNames = names{"Female", "Male", "Other", "Prefer Not to Specify", "Transgender Female", "Transgender Male"}

func (g Gender) String() string               { return genderNames.name(uint8(g), "Gender") }
func (g Gender) MarshalText() ([]byte, error) { return genderNames.marshal(uint8(g), "gender") }
func (g *Gender) UnmarshalText(b []byte) (err error) {
	*g, err = ParseGender(string(b))
	return err
}

// ParseGender matches without regard to case. "non-binary" is read as Other.
func ParseGender(s string) (Gender, error) {
	if strings.EqualFold(s, "non-binary") {
		return OtherGender, nil
	}
	v, err := genderNames.parseFold(s, "gender")
	return Gender(v), err
}

// Race is one of the values that the service defines, or OtherRace, which its
// clients send.
type Race uint8

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

var raceNames = names{
	"American Indian or Alaskan Native", "Asian", "Black or African American",
	"Native Hawaiian or Pacific Islander", "Prefer Not to Specify", "Two or More Races", "White", "Other",
}

func (r Race) String() string               { return raceNames.name(uint8(r), "Race") }
func (r Race) MarshalText() ([]byte, error) { return raceNames.marshal(uint8(r), "race") }
func (r *Race) UnmarshalText(b []byte) (err error) {
	*r, err = ParseRace(string(b))
	return err
}

// ParseRace matches without regard to case. "black or african-american" is
// read as Black or African American.
func ParseRace(s string) (Race, error) {
	if strings.EqualFold(s, "black or african-american") {
		return Black, nil
	}
	v, err := raceNames.parseFold(s, "race")
	return Race(v), err
}

// Ethnicity is one of the values that the service defines.
type Ethnicity uint8

const (
	Hispanic Ethnicity = iota + 1
	NotHispanic
)

var ethnicityNames = names{"Hispanic, Latino, or Spanish Origin", "Not Hispanic, Latino, or Spanish Origin"}

func (e Ethnicity) String() string { return ethnicityNames.name(uint8(e), "Ethnicity") }
func (e Ethnicity) MarshalText() ([]byte, error) {
	return ethnicityNames.marshal(uint8(e), "ethnicity")
}
func (e *Ethnicity) UnmarshalText(b []byte) (err error) {
	*e, err = ParseEthnicity(string(b))
	return err
}

// ParseEthnicity matches without regard to case.
func ParseEthnicity(s string) (Ethnicity, error) {
	v, err := ethnicityNames.parseFold(s, "ethnicity")
	return Ethnicity(v), err
}

func (n names) parseFold(s, kind string) (uint8, error) {
	for i, name := range n {
		if strings.EqualFold(s, name) {
			return uint8(i + 1), nil
		}
	}
	return 0, fmt.Errorf("models: unknown %s", kind) // the value is a patient's: it stays out of the text
}
