package screen_test

import (
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/screen"
)

func TestMetadataNamesInvalidFields(t *testing.T) {
	no := false
	for name, c := range map[string]struct {
		m    screen.Metadata
		want []string
	}{
		"nothing given": {},
		"least values": {m: screen.Metadata{
			Age: 1, Gender: screen.Female, Race: screen.AmericanIndian, Ethnicity: screen.Hispanic, Zipcode: "00000", English: &no, Weight: 1}},
		"last values": {m: screen.Metadata{
			Age: screen.MaxCount, Weight: screen.MaxCount, Gender: screen.TransgenderMale, Race: screen.OtherRace, Ethnicity: screen.NotHispanic, Zipcode: "99999"}},
		"negative age":             {screen.Metadata{Age: -1}, []string{"age"}},
		"age beyond a store":       {screen.Metadata{Age: screen.MaxCount + 1}, []string{"age"}},
		"weight beyond a store":    {screen.Metadata{Weight: screen.MaxCount + 1}, []string{"weight"}},
		"negative weight":          {screen.Metadata{Weight: -1}, []string{"weight"}},
		"unknown gender":           {screen.Metadata{Gender: screen.TransgenderMale + 1}, []string{"gender"}},
		"unknown race":             {screen.Metadata{Race: screen.OtherRace + 1}, []string{"race"}},
		"unknown ethnicity":        {screen.Metadata{Ethnicity: screen.NotHispanic + 1}, []string{"ethnicity"}},
		"short zip code":           {screen.Metadata{Zipcode: "1234"}, []string{"zipcode"}},
		"long zip code":            {screen.Metadata{Zipcode: "123456"}, []string{"zipcode"}},
		"letter in a zip code":     {screen.Metadata{Zipcode: "1234a"}, []string{"zipcode"}},
		"zip code with a new line": {screen.Metadata{Zipcode: "1234\n"}, []string{"zipcode"}},
		"zip code of other digits": {screen.Metadata{Zipcode: "12٣4"}, []string{"zipcode"}},
		"all at once": {screen.Metadata{Age: -1, Gender: 99, Race: 99, Ethnicity: 99, Zipcode: "x", Weight: -1},
			[]string{"age", "gender", "race", "ethnicity", "zipcode", "weight"}},
	} {
		if got := c.m.Invalid(); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestNamesOfMetadataInAnyCase(t *testing.T) {
	for text, want := range map[string]screen.Gender{"FEMALE": screen.Female, "Non-Binary": screen.OtherGender, "prefer not to specify": screen.GenderNotSpecified} {
		if got, err := screen.ParseGender(text); got != want || err != nil {
			t.Errorf("%q: got %v and error %v, want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]screen.Race{"asian": screen.Asian, "Black or African-American": screen.Black, "WHITE": screen.White} {
		if got, err := screen.ParseRace(text); got != want || err != nil {
			t.Errorf("%q: got %v and error %v, want %v", text, got, err, want)
		}
	}
	if got, err := screen.ParseEthnicity("hispanic, latino, or spanish origin"); got != screen.Hispanic || err != nil {
		t.Errorf("got %v and error %v, want %v", got, err, screen.Hispanic)
	}
}
