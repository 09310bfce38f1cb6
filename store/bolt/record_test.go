package bolt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// sample returns a session with a value in every kind of field.
func sample() *store.Session {
	english := true
	created := time.Date(2026, 3, 1, 12, 0, 0, 5000, time.UTC)
	return &store.Session{
		Account: "clinic", ID: "session", UserID: "user é",
		Metadata: screen.Metadata{Age: 40, Gender: screen.Female, Race: screen.Asian, Ethnicity: screen.NotHispanic, Zipcode: "02139", English: &english, Weight: 150},
		Status:   screen.StatusSuccess, CreatedAt: created, UpdatedAt: created.Add(time.Hour), Product: screen.DepressionAnxiety, SubmittedAt: created.Add(time.Minute),
		Audio: "AAAAAAAAAAAAAAAAAAAAAAAAAA", Channel: 2, FixedGain: true, Baseline: true, Due: created.Add(-1e18), Owner: "worker", Token: math.MaxInt64, Attempts: 3,
		Scores: []screen.Score{{
			Category: screen.Anxiety, Model: "m", Version: "1", Calibrated: true, Probability: 0.25, Low: 0.125, High: 0.5, Decision: screen.Positive, Severity: 2, Coverage: 1, Baseline: 3,
			Contributions: []screen.Contribution{{Feature: "f0.mean_hz", Value: 120.5, Unit: "Hz", Logits: -0.5}, {}},
			Segments:      []screen.Segment{{Start: 0, End: 4, Probability: 0.5}, {Start: 4, End: 8, Probability: 0.75}}, Cautions: []screen.Caution{screen.Noisy}, Prior: 0.5,
		}, {}},
		Features: map[string]float64{"b": 2, "a": math.MaxFloat64, "": 0},
		Failure:  &screen.Failure{Code: "c", Message: "m", Data: map[string]float64{"x": 1}},
		Labels:   screen.Labels{PHQ2: []int{0, 3}, PHQ9: []int{1}, GAD7: []int{1, math.MaxInt32}, Depression: screen.InterviewUndecided, UpdatedAt: created},
		Notify:   created.Add(2 * time.Hour), Notices: 7,
	}
}

// recordsIn returns the records of a session that is stored for the first time.
func recordsIn(primary []byte, s *store.Session) records {
	r, err := recordsOf(primary, s, "")
	if err != nil {
		panic(err) // impossible: every valid session can be encoded
	}
	return r
}

// restored decodes the records of a session.
func restored(primary []byte, r records) (*store.Session, error) {
	s, sum, err := decode(primary, r.session)
	if err == nil && sum != "" {
		err = decodeAnalysis(primary, sum, r.analysis, s)
	}
	return s, err
}

// recordGolden are the SHA-256 of the records of sample. They change only together with
// recordVersion and analysisVersion, so that existing stores stay readable.
var recordGolden = struct{ session, analysis string }{
	"08ec3632628ee4b668b407cfd6dccc1a1f0a3e5d1ced9759ca47711def51e2db",
	"d738c5d09a0d68138a7e30da63b7398a4c54accef07c5fb503e31046768964c3",
}

func TestRecordFormatIsFixed(t *testing.T) {
	s := sample()
	primary := plain.primaryKey(s.Account, s.ID)
	r := recordsIn(primary, s)
	for _, c := range []struct {
		name   string
		record []byte
		want   string
	}{{"session", r.session, recordGolden.session}, {"analysis", r.analysis, recordGolden.analysis}} {
		if got := hashOf(c.record); got != c.want {
			t.Errorf("%s: got record %x of hash %s, want %s", c.name, c.record, got, c.want)
		}
	}
	got, err := restored(primary, r)
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("got %+v and error %v, want %+v", got, err, s)
	}
}

func hashOf(b []byte) string {
	hash := sha256.Sum256(b)
	return hex.EncodeToString(hash[:])
}

func TestEveryDamageOfARecordIsDetected(t *testing.T) {
	s := sample()
	primary := plain.primaryKey(s.Account, s.ID)
	whole := recordsIn(primary, s)
	for name, put := range map[string]func(b []byte) records{
		"session":  func(b []byte) records { return records{b, whole.analysis} },
		"analysis": func(b []byte) records { return records{whole.session, b} },
	} {
		record := whole.session
		if name == "analysis" {
			record = whole.analysis
		}
		for i := range record {
			for bit := range 8 {
				damaged := bytes.Clone(record)
				damaged[i] ^= 1 << bit
				if _, err := restored(primary, put(damaged)); !errors.Is(err, ErrCorrupt) {
					t.Fatalf("%s, bit %d of byte %d: got error %v, want %v", name, bit, i, err, ErrCorrupt)
				}
			}
			if _, err := restored(primary, put(record[:i])); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%s, the first %d bytes: got error %v, want %v", name, i, err, ErrCorrupt)
			}
		}
	}
	if _, err := restored(plain.primaryKey("other", s.ID), whole); !errors.Is(err, ErrCorrupt) {
		t.Errorf("under another key: got error %v, want %v", err, ErrCorrupt)
	}
	if _, err := restored(primary, records{whole.analysis, whole.session}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("one in the place of the other: got error %v, want %v", err, ErrCorrupt)
	}
	s.Scores[0].Probability = 0.75
	if _, err := restored(primary, records{whole.session, recordsIn(primary, s).analysis}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("with scores of another time: got error %v, want %v", err, ErrCorrupt)
	}
}

// TestCutBodiesAreRefused decodes bodies without their checksum: the decoder itself
// refuses a body that ends early or late.
func TestCutBodiesAreRefused(t *testing.T) {
	s := sample()
	body := recordsIn(plain.primaryKey(s.Account, s.ID), s).session[headerLen:]
	for i := range body {
		if _, _, err := decodeBody(body[:i]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("the first %d bytes: got error %v, want %v", i, err, ErrCorrupt)
		}
	}
	if _, _, err := decodeBody(append(bytes.Clone(body), 0)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a byte too many: got error %v, want %v", err, ErrCorrupt)
	}
}

func FuzzDecodeRecord(f *testing.F) {
	for _, s := range []*store.Session{sample(), {ID: "s", Status: screen.StatusInitiated, CreatedAt: time.Unix(1, 0)}} {
		primary := plain.primaryKey(s.Account, s.ID)
		r := recordsIn(primary, s)
		f.Add(r.session[headerLen:])
		if r.analysis != nil {
			f.Add(r.analysis[headerLen:])
		}
	}
	f.Add(bytes.Repeat([]byte{0xff}, 300))
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, _, err := decode([]byte("key"), body); err == nil {
			t.Error("got a session from a body without version and checksum")
		}
		// The checksum refuses random bytes, so the body is decoded without it too.
		var s *store.Session
		var err error
		cost.Check(t, len(body), func() { s, _, err = decodeBody(body) })
		readAgain(t, s, err)
	})
}

// readAgain encodes a session that was decoded without an error, and decodes it again.
// An error must be ErrCorrupt.
func readAgain(t *testing.T, s *store.Session, err error) {
	t.Helper()
	if err != nil {
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("got error %v, want %v", err, ErrCorrupt)
		}
		return
	}
	primary := plain.primaryKey(s.Account, s.ID)
	want := recordsIn(primary, s)
	again, err := restored(primary, want)
	if err != nil {
		t.Fatalf("the record of what was read: %v", err)
	}
	if got := recordsIn(primary, again); !bytes.Equal(got.session, want.session) || !bytes.Equal(got.analysis, want.analysis) {
		t.Error("a record read and written again is another")
	}
}

func BenchmarkRecord(b *testing.B) {
	s := sample()
	s.Failure = nil
	for i := range 100 {
		s.Features["feature.mean."+string(rune('a'+i%26))+string(rune('a'+i/26))] = 1 / float64(i+3)
	}
	delete(s.Features, "a") // infinite: JSON cannot write it
	for i := range 20 {
		s.Scores[0].Contributions = append(s.Scores[0].Contributions, screen.Contribution{Feature: "spectral.centroid_hz", Value: 1 / float64(i+3), Unit: "Hz", Logits: 1 / float64(i+7)})
	}
	s.Scores[1] = s.Scores[0]
	primary := plain.primaryKey(s.Account, s.ID)
	r := recordsIn(primary, s)
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			recordsIn(primary, s)
		}
	})
	b.Run("record", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := restored(primary, r); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(r.session)+len(r.analysis)), "bytes")
	})
	b.Run("json", func(b *testing.B) {
		record, err := json.Marshal(s)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			var s store.Session
			if err := json.Unmarshal(record, &s); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(record)), "bytes")
	})
}
