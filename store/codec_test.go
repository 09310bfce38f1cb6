package store_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// whole returns a session with a value in every kind of field.
func whole() *store.Session {
	english := true
	created := time.Date(2026, 3, 1, 12, 0, 0, 5000, time.UTC)
	return &store.Session{
		Account: "clinic", ID: "session", UserID: "user é",
		Metadata: screen.Metadata{Age: 40, Gender: screen.Female, Race: screen.Asian, Ethnicity: screen.NotHispanic, Zipcode: "02139", English: &english, Weight: 150},
		Status:   screen.StatusSuccess, CreatedAt: created, UpdatedAt: created.Add(time.Hour), Product: screen.DepressionAnxiety, SubmittedAt: created.Add(time.Minute),
		Audio: "AAAAAAAAAAAAAAAAAAAAAAAAAA", Channel: 2, FixedGain: true, Baseline: true, Due: time.UnixMicro(1).UTC(), Owner: "worker", Token: math.MaxInt64, Attempts: 3,
		Scores: []screen.Score{{
			Category: screen.Anxiety, Model: "m", Version: "1", Calibrated: true, Probability: 0.25, Low: 0.125, High: 0.5, Decision: screen.Positive, Severity: 2, Coverage: 1, Baseline: 3,
			Contributions: []screen.Contribution{{Feature: "f0.mean_hz", Value: 120.5, Unit: "Hz", Logits: -0.5}, {}},
			Segments:      []screen.Segment{{Start: 0, End: 4, Probability: 0.5}, {Start: 4, End: 8, Probability: 0.75}}, Cautions: []screen.Caution{screen.Noisy}, Prior: 0.5,
		}, {}},
		Features: map[string]float64{"b": 2, "a": math.MaxFloat64, "": math.Copysign(0, -1)},
		Failure:  &screen.Failure{Code: "c", Message: "m", Data: map[string]float64{"x": 1}},
		Labels:   screen.Labels{PHQ2: []int{0, 3}, PHQ9: []int{1}, GAD7: []int{1, math.MaxInt32}, Depression: screen.InterviewUndecided, UpdatedAt: created},
		Notify:   created.Add(2 * time.Hour), Notices: 7,
	}
}

func marshal(t testing.TB, s *store.Session) []byte {
	t.Helper()
	b, err := store.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSessionsComeBackFromTheCodec(t *testing.T) {
	s := whole()
	got, err := store.Unmarshal(marshal(t, s))
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("got %+v and error %v, want %+v", got, err, s)
	}
	s.Scores[0].Low, s.Scores[0].Segments[0].Probability = math.NaN(), math.NaN()
	got, err = store.Unmarshal(marshal(t, s))
	if err != nil || !math.IsNaN(got.Scores[0].Low) || !math.IsNaN(got.Scores[0].Segments[0].Probability) {
		t.Errorf("got %+v and error %v, want undefined numbers", got, err)
	}
	analysis, err := store.AppendAnalysis(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	head := *s
	head.Scores, head.Features = nil, nil
	if err := store.UnmarshalAnalysis(analysis, &head); err != nil || !bytes.Equal(marshal(t, &head), marshal(t, s)) {
		t.Errorf("got %+v and error %v, want the whole session", head, err)
	}
}

// TestEncodingIsFixed compares with a stored record, so that existing records stay
// readable.
func TestEncodingIsFixed(t *testing.T) {
	name := filepath.Join("testdata", "session.hex")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		t.Fatal(err)
	}
	if got := marshal(t, whole()); !bytes.Equal(got, want) {
		t.Errorf("got\n%x, want\n%x", got, want)
	}
	if s, err := store.Unmarshal(want); err != nil || !reflect.DeepEqual(s, whole()) {
		t.Errorf("got %+v and error %v", s, err)
	}
}

// TestDurationsComeBackFromTheCodec has the fields that records of former programs
// lack.
func TestDurationsComeBackFromTheCodec(t *testing.T) {
	s := whole()
	s.Duration, s.Analysed = 754.25, 600
	got, err := store.Unmarshal(marshal(t, s))
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("got %+v and error %v, want %+v", got, err, s)
	}
	for _, x := range []float64{-1, math.NaN(), math.Inf(1)} {
		for _, bad := range []func(s *store.Session){func(s *store.Session) { s.Duration = x }, func(s *store.Session) { s.Analysed = x }} {
			s := whole()
			if bad(s); !errors.Is(s.Check(), store.ErrInvalid) {
				t.Errorf("%v s: got no error, want %v", x, store.ErrInvalid)
			}
		}
	}
}

func TestUnknownKeysAreIgnored(t *testing.T) {
	s := &store.Session{ID: "s", Status: screen.StatusInitiated, CreatedAt: time.Unix(1, 0).UTC()}
	b := marshal(t, s)
	b[0]++                              // one pair more in a map of fewer than 24
	b = append(b, 0x18, 99, 0x81, 0x01) // 99: [1]
	got, err := store.Unmarshal(b)
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("got %+v and error %v, want %+v", got, err, s)
	}
}

func TestInvalidEncodingsAreRefused(t *testing.T) {
	good := marshal(t, whole())
	for i := range good {
		if _, err := store.Unmarshal(good[:i]); !errors.Is(err, store.ErrDamaged) {
			t.Fatalf("the first %d bytes: got error %v, want %v", i, err, store.ErrDamaged)
		}
	}
	for name, b := range map[string][]byte{
		"a byte too many":         append(slices.Clone(good), 0),
		"not a map":               {0x80},
		"a map without end":       {0xbf, 0xff},
		"a key twice":             {0xa2, 0x02, 0x61, 's', 0x02, 0x61, 's'},
		"a session without an ID": {0xa1, 0x05, 0x01},
		"an unknown status":       marshal(t, &store.Session{ID: "s", Status: 99, CreatedAt: time.Unix(1, 0)}),
		"a time before 1970":      marshal(t, &store.Session{ID: "s", Status: 1, CreatedAt: time.Unix(-1, 0)}),
		"a tag":                   {0xc0, 0xa0},
		"a text not in UTF-8":     {0xa1, 0x02, 0x61, 0xff},
		"nested lists":            {0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81},
		"a list of nulls":         append([]byte{0xa1, 0x12, 0x19, 0x01, 0x00}, bytes.Repeat([]byte{0xf6}, 256)...),
	} {
		if _, err := store.Unmarshal(b); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s: got error %v, want %v", name, err, store.ErrDamaged)
		}
	}
}

// FuzzUnmarshal checks the bounds on memory and time, and that a session that was read
// is written and read again without a difference.
func FuzzUnmarshal(f *testing.F) {
	f.Add(marshal(f, whole()))
	f.Add([]byte{0xa0})
	for _, element := range [][]byte{{0xa0}, {0xf6}, {0x00}, {0x80}} { // lists of 2^16 short elements, of segments and of scores
		list := append([]byte{0x9a, 0, 1, 0, 0}, bytes.Repeat(element, 1<<16)...)
		f.Add(append([]byte{0xa1, 0x12}, list...))
		f.Add(append([]byte{0xa1, 0x12, 0x81, 0xa1, 0x0e}, list...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var s *store.Session
		var err error
		cost.Check(t, len(b), func() { s, err = store.Unmarshal(b) })
		if err != nil {
			if !errors.Is(err, store.ErrDamaged) {
				t.Errorf("got error %v, want %v", err, store.ErrDamaged)
			}
			return
		}
		again, err := store.Unmarshal(marshal(t, s))
		if err != nil || !bytes.Equal(marshal(t, again), marshal(t, s)) {
			t.Errorf("a session read and written again is another, or error %v", err)
		}
	})
}

// TestFeaturesAreEncodedAsTheLibraryDoes compares MarshalAnalysis, which encodes features
// by hand, with Marshal.
func TestFeaturesAreEncodedAsTheLibraryDoes(t *testing.T) {
	long := strings.Repeat("n", 300)
	for name, numbers := range map[string]map[string]float64{
		"none":    nil,
		"one":     {"f0.mean_hz": 120.5},
		"order":   {"b": 1, "a": 2, "aa": 3, "": 4, "Z": 5, "é": 6},
		"lengths": {long: 1, long[:23]: 2, long[:24]: 3, long[:255]: 4, long[:256]: 5},
		"values":  {"zero": 0, "minus": math.Copysign(0, -1), "small": 5e-324, "large": math.MaxFloat64, "nan": math.NaN(), "inf": math.Inf(-1)},
		"hundreds": func() map[string]float64 {
			m := map[string]float64{}
			for i := range 300 {
				m[fmt.Sprint("feature.", i)] = float64(i) / 7
			}
			return m
		}(),
	} {
		s := &store.Session{Scores: []screen.Score{{Category: screen.Anxiety, Probability: 0.5}}, Features: numbers}
		got, err := store.AppendAnalysis(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		want, err := store.Marshal(&store.Session{Scores: s.Scores, Features: numbers})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(want, got[1:]) { // without the head of the map, which counts other fields
			t.Errorf("%s: got %x, want a part of %x", name, got, want)
		}
	}
}
