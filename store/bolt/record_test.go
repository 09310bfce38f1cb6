package bolt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/store"
)

// sample returns a session with something in every kind of field.
func sample() *store.Session {
	english := true
	created := time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	return &store.Session{
		Account: "clinic", ID: "session", UserID: "user\xff",
		Metadata: models.Metadata{Age: 40, Gender: models.Female, Race: models.Asian, Ethnicity: models.NotHispanic, Zipcode: "02139", English: &english, Weight: 150},
		State:    store.Succeeded, CreatedAt: created, UpdatedAt: created.Add(time.Hour), Product: store.DepressionAnxiety, SubmittedAt: created.Add(time.Minute),
		Audio: "AAAAAAAAAAAAAAAAAAAAAAAAAA", Channel: 2, Due: created.Add(-1e18), Owner: "worker", Token: math.MaxUint64, Attempts: -3,
		Scores: []models.Score{{
			Category: models.Anxiety, Model: "m", Version: "1", Calibrated: true, Probability: 0.25, Low: 0.125, High: 0.5, Decision: models.Positive, Severity: 2, Coverage: 1,
			Contributions: []models.Contribution{{Feature: "f0.mean_hz", Value: 120.5, Unit: "Hz", Logits: -0.5}, {}},
		}, {}},
		Features: map[string]float64{"b": 2, "a": math.Inf(1), "": 0},
		Failure:  &store.Failure{Code: "c", Message: "m", Data: map[string]float64{"x": 1}},
		Labels:   store.Labels{PHQ2: []int{0, 3}, PHQ9: []int{1}, GAD7: []int{-1, 1 << 40}, Depression: store.InterviewUndecided, UpdatedAt: created},
	}
}

// recordGolden is the SHA-256 of the record of sample. It changes only with
// recordVersion: stores that people have are read by what it stands for.
const recordGolden = "1d18805e732f7efb732f51d63b806b97c60df3934fadb83ffc61c9e202ab430a"

func TestRecordFormatIsFixed(t *testing.T) {
	s := sample()
	record := encode(primaryKey(s.Account, s.ID), s)
	hash := sha256.Sum256(record)
	if got := hex.EncodeToString(hash[:]); got != recordGolden {
		t.Errorf("got record %x of hash %s, want %s", record, got, recordGolden)
	}
	got, err := decode(primaryKey(s.Account, s.ID), record)
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("got %+v and error %v, want %+v", got, err, s)
	}
}

func TestEveryDamageOfARecordIsFound(t *testing.T) {
	s := sample()
	primary := primaryKey(s.Account, s.ID)
	record := encode(primary, s)
	for i := range record {
		for bit := range 8 {
			damaged := bytes.Clone(record)
			damaged[i] ^= 1 << bit
			if _, err := decode(primary, damaged); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("bit %d of byte %d: got error %v, want %v", bit, i, err, ErrCorrupt)
			}
		}
		if _, err := decode(primary, record[:i]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("the first %d bytes: got error %v, want %v", i, err, ErrCorrupt)
		}
	}
	if _, err := decode(primaryKey("other", s.ID), record); !errors.Is(err, ErrCorrupt) {
		t.Errorf("under another key: got error %v, want %v", err, ErrCorrupt)
	}
}

// TestCutBodiesAreRefused goes behind the checksum: the fields alone are strict
// enough for a body that ends early or late.
func TestCutBodiesAreRefused(t *testing.T) {
	s := sample()
	body := string(encode(primaryKey(s.Account, s.ID), s)[headerLen:])
	for i := range body {
		if _, err := decodeBody(body[:i]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("the first %d bytes: got error %v, want %v", i, err, ErrCorrupt)
		}
	}
	if _, err := decodeBody(body + "\x00"); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a byte too many: got error %v, want %v", err, ErrCorrupt)
	}
}

func FuzzDecodeRecord(f *testing.F) {
	for _, s := range []*store.Session{sample(), {ID: "s", State: store.Initiated}} {
		f.Add(encode(primaryKey(s.Account, s.ID), s)[headerLen:])
	}
	f.Add(bytes.Repeat([]byte{0xff}, 300))
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := decode([]byte("key"), body); err == nil {
			t.Error("got a session from a body without version and checksum")
		}
		// The checksum keeps noise out; here the noise gets behind it.
		before := allocated()
		s, err := decodeBody(string(body))
		if got, most := allocated()-before, uint64(4*len(body)+1<<20); got > most { // 1 MiB covers a record of any size we write
			t.Errorf("%d bytes made decode allocate %d, want at most %d", len(body), got, most)
		}
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("got error %v, want %v", err, ErrCorrupt)
			}
			return
		}
		primary := primaryKey(s.Account, s.ID)
		record := encode(primary, s)
		again, err := decode(primary, record)
		if err != nil {
			t.Fatalf("the record of what was read: %v", err)
		}
		if !bytes.Equal(encode(primary, again), record) {
			t.Error("a record read and written again is another")
		}
	})
}

// allocated returns how many bytes the process has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func BenchmarkDecode(b *testing.B) {
	s := sample()
	s.Failure = nil
	for i := range 100 {
		s.Features["feature.mean."+string(rune('a'+i%26))+string(rune('a'+i/26))] = 1 / float64(i+3)
	}
	delete(s.Features, "a") // infinite: JSON cannot write it
	for i := range 20 {
		s.Scores[0].Contributions = append(s.Scores[0].Contributions, models.Contribution{Feature: "spectral.centroid_hz", Value: 1 / float64(i+3), Unit: "Hz", Logits: 1 / float64(i+7)})
	}
	s.Scores[1] = s.Scores[0]
	primary := primaryKey(s.Account, s.ID)
	record := encode(primary, s)
	b.Run("record", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := decode(primary, record); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(record)), "bytes")
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
