package screen_test

import (
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/screen"
)

func TestEnumerationsAreReadAsTheyAreWritten(t *testing.T) {
	type kind interface {
		MarshalText() ([]byte, error)
		String() string
	}
	for _, c := range []struct {
		name  string
		last  uint8
		value func(v uint8) kind
		read  func(b []byte) (uint8, error)
	}{
		{"status", uint8(screen.StatusFailed), func(v uint8) kind { return screen.Status(v) },
			func(b []byte) (uint8, error) { var s screen.Status; err := s.UnmarshalText(b); return uint8(s), err }},
		{"product", uint8(screen.DeepfakeBinary), func(v uint8) kind { return screen.Product(v) },
			func(b []byte) (uint8, error) { var p screen.Product; err := p.UnmarshalText(b); return uint8(p), err }},
		{"interview result", uint8(screen.InterviewUndecided), func(v uint8) kind { return screen.Interview(v) },
			func(b []byte) (uint8, error) { var i screen.Interview; err := i.UnmarshalText(b); return uint8(i), err }},
		{"severity", uint8(screen.Severe), func(v uint8) kind { return screen.Severity(v) },
			func(b []byte) (uint8, error) { var s screen.Severity; err := s.UnmarshalText(b); return uint8(s), err }},
		{"category", uint8(screen.Deepfake), func(v uint8) kind { return screen.Category(v) },
			func(b []byte) (uint8, error) { var c screen.Category; err := c.UnmarshalText(b); return uint8(c), err }},
		{"decision", uint8(screen.Indeterminate), func(v uint8) kind { return screen.Decision(v) },
			func(b []byte) (uint8, error) { var d screen.Decision; err := d.UnmarshalText(b); return uint8(d), err }},
		{"caution", uint8(screen.Lossy), func(v uint8) kind { return screen.Caution(v) },
			func(b []byte) (uint8, error) { var c screen.Caution; err := c.UnmarshalText(b); return uint8(c), err }},
		{"gender", uint8(screen.TransgenderMale), func(v uint8) kind { return screen.Gender(v) },
			func(b []byte) (uint8, error) { var g screen.Gender; err := g.UnmarshalText(b); return uint8(g), err }},
		{"race", uint8(screen.OtherRace), func(v uint8) kind { return screen.Race(v) },
			func(b []byte) (uint8, error) { var r screen.Race; err := r.UnmarshalText(b); return uint8(r), err }},
		{"ethnicity", uint8(screen.NotHispanic), func(v uint8) kind { return screen.Ethnicity(v) },
			func(b []byte) (uint8, error) { var e screen.Ethnicity; err := e.UnmarshalText(b); return uint8(e), err }},
	} {
		seen := map[string]bool{}
		for v := uint8(1); v <= c.last; v++ {
			text, err := c.value(v).MarshalText()
			if err != nil || string(text) != c.value(v).String() || seen[string(text)] {
				t.Errorf("%s %d: got text %q and error %v, want a name of its own", c.name, v, text, err)
			}
			seen[string(text)] = true
			if got, err := c.read(text); got != v || err != nil {
				t.Errorf("%s %q: read as %d with error %v, want %d", c.name, text, got, err, v)
			}
		}
		for _, v := range []uint8{0, c.last + 1, 255} {
			if text, err := c.value(v).MarshalText(); err == nil {
				t.Errorf("%s %d: got text %q, want an error", c.name, v, text)
			}
			if name := c.value(v).String(); !strings.HasPrefix(name, c.name+"(") {
				t.Errorf("%s %d: got name %q", c.name, v, name)
			}
		}
		for _, text := range []string{"", "Mr Smith", "category(0)"} {
			got, err := c.read([]byte(text))
			if err == nil || got != 0 {
				t.Errorf("%s %q: read as %d with error %v, want an error", c.name, text, got, err)
			} else if strings.Contains(err.Error(), "Smith") || !strings.Contains(err.Error(), c.name) {
				t.Errorf("%s: got error %v, want one that names the kind and not the text", c.name, err)
			}
		}
	}
}

func TestEnum(t *testing.T) {
	type colour uint8
	e := screen.NewEnum[colour]("colour", "red", "Green")
	for v, want := range map[colour]bool{0: false, 1: true, 2: true, 3: false, 255: false} {
		if got := e.Valid(v); got != want {
			t.Errorf("%d: got valid %v, want %v", v, got, want)
		}
	}
	if got := e.String(9); got != "colour(9)" {
		t.Errorf("got %q, want colour(9)", got)
	}
	for _, c := range []struct {
		text       string
		exact, any colour // 0 for an error
	}{{"red", 1, 1}, {"RED", 0, 1}, {"green", 0, 2}, {"Green", 2, 2}, {"re", 0, 0}, {"", 0, 0}} {
		if got, err := e.Parse(c.text); got != c.exact || (err == nil) != (c.exact != 0) {
			t.Errorf("Parse(%q): got %d and error %v, want %d", c.text, got, err, c.exact)
		}
		if got, err := e.ParseFold(c.text); got != c.any || (err == nil) != (c.any != 0) {
			t.Errorf("ParseFold(%q): got %d and error %v, want %d", c.text, got, err, c.any)
		}
	}
	v := colour(1)
	if err := e.Unmarshal(&v, []byte("blue")); err == nil || v != 0 {
		t.Errorf("got %d and error %v, want 0 and an error", v, err)
	}
}

func TestCategoriesAreAllThatAreValid(t *testing.T) {
	got := screen.Categories()
	for i, c := range got {
		if c != screen.Category(i+1) || !c.Valid() {
			t.Errorf("got %v at %d", c, i)
		}
	}
	if next := screen.Category(len(got) + 1); next.Valid() {
		t.Errorf("%v is missing from %v", next, got)
	}
}

func TestEachProductHasCategories(t *testing.T) {
	for p := screen.DepressionAnxiety; p <= screen.DeepfakeBinary; p++ {
		if len(p.Categories()) == 0 {
			t.Errorf("%v has no categories", p)
		}
		if got, want := p.Binary(), p == screen.DepressionBinary || p == screen.DeepfakeBinary; got != want {
			t.Errorf("%v: got binary %v, want %v", p, got, want)
		}
	}
	if got := screen.Product(0).Categories(); got != nil {
		t.Errorf("got categories %v of no product", got)
	}
}

func TestFinalStates(t *testing.T) {
	for s := screen.StatusInitiated; s <= screen.StatusFailed; s++ {
		if got, want := s.Final(), s >= screen.StatusSuccess; got != want {
			t.Errorf("%v: got final %v, want %v", s, got, want)
		}
	}
}

func TestSeveritiesOfTotals(t *testing.T) {
	for _, c := range []struct {
		category screen.Category
		total    int
		want     screen.Severity
		rank     int
	}{
		{screen.Depression, 9, screen.NoToMild, 1},
		{screen.Depression, 10, screen.MildToModerate, 2},
		{screen.Depression, 14, screen.MildToModerate, 2},
		{screen.Depression, 15, screen.ModerateToSevere, 3},
		{screen.Anxiety, 4, screen.NoOrMinimal, 1},
		{screen.Anxiety, 5, screen.Moderate, 2},
		{screen.Anxiety, 10, screen.ModeratelySevere, 3},
		{screen.Anxiety, 15, screen.Severe, 4},
		{screen.Deepfake, 15, 0, 0},
	} {
		if got := screen.SeverityOf(c.category, c.total); got != c.want || got.Rank() != c.rank {
			t.Errorf("%v %d: got %v of rank %d, want %v of rank %d", c.category, c.total, got, got.Rank(), c.want, c.rank)
		}
	}
}

func TestInterviewsAreReadInAnyCase(t *testing.T) {
	for text, want := range map[string]screen.Interview{
		"true": screen.InterviewPositive, "False": screen.InterviewNegative,
		"Additional_consideration_required": screen.InterviewUndecided, "ADDITIONAL_CONSIDERATION_REQUIRED": screen.InterviewUndecided,
	} {
		var got screen.Interview
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q: got %v and error %v, want %v", text, got, err, want)
		}
		if name := want.String(); name != strings.ToLower(name) {
			t.Errorf("got name %q, want lower case", name)
		}
	}
}
