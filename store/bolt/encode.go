package bolt

import (
	"encoding/binary"
	"hash/crc32"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/store"
)

// recordVersion is the first byte of every record. A change of the fields below
// makes a new version; decode keeps reading the former ones.
const recordVersion = 1

// headerLen is the length of what stands before a record's body: the version
// and the checksum.
const headerLen = 1 + crc32.Size

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is over the key too: a record under another key is damaged.
func checksum(primary, body []byte) uint32 {
	return crc32.Update(crc32.Checksum(primary, castagnoli), castagnoli, body)
}

// encode returns the record of a session. JSON was measured and left: a result
// with two scores and 100 features is twice as long in it and takes five times
// as long to read (BenchmarkDecode), and it knows neither undefined numbers nor
// strings that are not UTF-8.
func encode(primary []byte, s *store.Session) []byte {
	e := encoder{b: make([]byte, headerLen, 512)} // chosen: room for a session without a result
	e.session(s)
	e.b[0] = recordVersion
	binary.BigEndian.PutUint32(e.b[1:], checksum(primary, e.b[headerLen:]))
	return e.b
}

// encoder appends the fields of a record. Numbers are varints, floats 8 bytes,
// strings and lists begin with their length.
type encoder struct{ b []byte }

func (e *encoder) byte(v uint8)     { e.b = append(e.b, v) }
func (e *encoder) uint(v uint64)    { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) int(v int)        { e.b = binary.AppendVarint(e.b, int64(v)) }
func (e *encoder) float(v float64)  { e.b = binary.BigEndian.AppendUint64(e.b, math.Float64bits(v)) }
func (e *encoder) time(v time.Time) { e.b = appendTime(e.b, v) }

func (e *encoder) string(v string) {
	e.uint(uint64(len(v)))
	e.b = append(e.b, v...)
}

func (e *encoder) bool(v bool) {
	if v {
		e.byte(1)
		return
	}
	e.byte(0)
}

func (e *encoder) ints(v []int) {
	e.uint(uint64(len(v)))
	for _, x := range v {
		e.int(x)
	}
}

func (e *encoder) numbers(v map[string]float64) {
	e.uint(uint64(len(v)))
	for _, name := range slices.Sorted(maps.Keys(v)) {
		e.string(name)
		e.float(v[name])
	}
}

func (e *encoder) session(s *store.Session) {
	e.string(s.Account)
	e.string(s.ID)
	e.string(s.UserID)
	e.metadata(&s.Metadata)
	e.byte(uint8(s.State))
	e.time(s.CreatedAt)
	e.time(s.UpdatedAt)
	e.byte(uint8(s.Product))
	e.time(s.SubmittedAt)
	e.string(s.Audio)
	e.int(s.Channel)
	e.time(s.Due)
	e.string(s.Owner)
	e.uint(s.Token)
	e.int(s.Attempts)
	e.uint(uint64(len(s.Scores)))
	for i := range s.Scores {
		e.score(&s.Scores[i])
	}
	e.numbers(s.Features)
	e.bool(s.Failure != nil)
	if s.Failure != nil {
		e.string(s.Failure.Code)
		e.string(s.Failure.Message)
		e.numbers(s.Failure.Data)
	}
	e.ints(s.Labels.PHQ2)
	e.ints(s.Labels.PHQ9)
	e.ints(s.Labels.GAD7)
	e.byte(uint8(s.Labels.Depression))
	e.time(s.Labels.UpdatedAt)
}

func (e *encoder) metadata(m *models.Metadata) {
	e.int(m.Age)
	e.byte(uint8(m.Gender))
	e.byte(uint8(m.Race))
	e.byte(uint8(m.Ethnicity))
	e.string(m.Zipcode)
	e.bool(m.English != nil)
	if m.English != nil {
		e.bool(*m.English)
	}
	e.int(m.Weight)
}

func (e *encoder) score(s *models.Score) {
	e.byte(uint8(s.Category))
	e.string(s.Model)
	e.string(s.Version)
	e.bool(s.Calibrated)
	e.float(s.Probability)
	e.float(s.Low)
	e.float(s.High)
	e.byte(uint8(s.Decision))
	e.int(s.Severity)
	e.float(s.Coverage)
	e.uint(uint64(len(s.Contributions)))
	for _, c := range s.Contributions {
		e.string(c.Feature)
		e.float(c.Value)
		e.string(c.Unit)
		e.float(c.Logits)
	}
}
