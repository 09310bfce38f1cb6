package bolt

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// recordVersion is the first byte of every record of a session. A change of the
// fields below makes a new version; decode keeps reading the former ones.
const recordVersion = 5

// analysisVersion is the first byte of every record of scores and features.
// Since recordVersion 5 they have one of their own: they are a dozen times as
// long as all else, and nearly all changes leave them alone.
const analysisVersion = 0x41 // chosen: none of a session's record

// headerLen is the length of what stands before a record's body: the version
// and the checksum.
const headerLen = 1 + crc32.Size

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is over the key too, so that a record under another key is damaged,
// and since version 5 over the version.
func checksum(primary, record []byte) uint32 {
	sum := crc32.Checksum(primary, castagnoli)
	if record[0] >= 5 {
		sum = crc32.Update(sum, castagnoli, record[:1])
	}
	return crc32.Update(sum, castagnoli, record[headerLen:])
}

// encode returns the record of a session without scores and features, but with
// what encodeAnalysis returned for them: it names them by their checksum. JSON was
// measured and left: a result with two scores and 100 features is twice as long
// in it and takes five times as long to read (BenchmarkRecord), and it knows
// neither undefined numbers nor strings that are not UTF-8.
func encode(primary []byte, s *store.Session, sum string) []byte {
	const size = 256 // chosen: room for most sessions
	e := encoder{b: make([]byte, headerLen, size)}
	e.session(s)
	e.string(sum)
	return e.finish(primary, recordVersion)
}

// encodeAnalysis returns the record of a session's scores and features, and its
// checksum; nil and "" if it has none.
func encodeAnalysis(primary []byte, s *store.Session) (record []byte, sum string) {
	if !s.Analyzed() {
		return nil, ""
	}
	size := 4096 + 32*len(s.Features) // chosen: room for two scores with their reasons, and for a name and its number
	e := encoder{b: make([]byte, headerLen, size)}
	e.analysis(s)
	record = e.finish(primary, analysisVersion)
	return record, string(record[1:headerLen])
}

// encoder appends the fields of a record. Numbers are varints, floats 8 bytes,
// strings and lists begin with their length.
type encoder struct{ b []byte }

// finish returns the record, whose fields are appended.
func (e *encoder) finish(primary []byte, version uint8) []byte {
	e.b[0] = version
	binary.BigEndian.PutUint32(e.b[1:], checksum(primary, e.b))
	return e.b
}

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

// numbers appends them in the order of their names.
func (e *encoder) numbers(v map[string]float64) {
	e.uint(uint64(len(v)))
	begin := len(e.b)
	if names := lastNames.Load(); names != nil && len(*names) == len(v) && e.inOrder(v, *names) {
		return
	}
	e.b = e.b[:begin]
	names := make([]string, 0, len(v)) // slices.Sorted(maps.Keys(v)) grows step by step, and took half of encode
	for name := range v {
		names = append(names, name)
	}
	slices.Sort(names)
	e.inOrder(v, names)
	if len(names) > 1 {
		for i := range names {
			names[i] = strings.Clone(names[i]) // it may be part of a record
		}
		lastNames.Store(&names)
	}
}

// lastNames are those that numbers sorted last. Recordings nearly all have the
// same features, and sorting their names took half of encodeAnalysis.
var lastNames atomic.Pointer[[]string]

// inOrder appends the numbers of names in their order, and says whether there
// are all.
func (e *encoder) inOrder(v map[string]float64, names []string) bool {
	for _, name := range names {
		x, ok := v[name]
		if !ok {
			return false
		}
		e.string(name)
		e.float(x)
	}
	return true
}

// session appends all fields but scores and features.
func (e *encoder) session(s *store.Session) {
	e.firstFields(s)
	e.failure(s.Failure)
	e.labels(&s.Labels)
	e.time(s.Notify)
	e.int(s.Notices)
	e.bool(s.FixedGain)
	e.bool(s.Baseline)
}

// firstFields appends those that records of every version begin with.
func (e *encoder) firstFields(s *store.Session) {
	e.string(s.Account)
	e.string(s.ID)
	e.string(s.UserID)
	e.metadata(&s.Metadata)
	e.byte(uint8(s.Status))
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
}

// analysis appends scores and features.
func (e *encoder) analysis(s *store.Session) {
	e.uint(uint64(len(s.Scores)))
	for i := range s.Scores {
		e.score(&s.Scores[i])
		e.int(s.Scores[i].Baseline)
		e.scoreParts(&s.Scores[i])
	}
	e.numbers(s.Features)
}

func (e *encoder) failure(f *screen.Failure) {
	e.bool(f != nil)
	if f != nil {
		e.string(f.Code)
		e.string(f.Message)
		e.numbers(f.Data)
	}
}

func (e *encoder) labels(l *screen.Labels) {
	e.ints(l.PHQ2)
	e.ints(l.PHQ9)
	e.ints(l.GAD7)
	e.byte(uint8(l.Depression))
	e.time(l.UpdatedAt)
}

func (e *encoder) metadata(m *screen.Metadata) {
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

// scoreParts appends the rest of a score, which version 4 brought.
func (e *encoder) scoreParts(s *screen.Score) {
	e.float(s.Prior)
	e.uint(uint64(len(s.Segments)))
	for _, p := range s.Segments {
		e.float(p.Start)
		e.float(p.End)
		e.float(p.Probability)
	}
	e.uint(uint64(len(s.Cautions)))
	for _, c := range s.Cautions {
		e.byte(uint8(c))
	}
}

func (e *encoder) score(s *screen.Score) {
	e.byte(uint8(s.Category))
	e.string(s.Model)
	e.string(s.Version)
	e.bool(s.Calibrated)
	e.float(s.Probability)
	e.float(s.Low)
	e.float(s.High)
	e.byte(uint8(s.Decision))
	e.byte(uint8(s.Severity))
	e.float(s.Coverage)
	e.uint(uint64(len(s.Contributions)))
	for _, c := range s.Contributions {
		e.string(c.Feature)
		e.float(c.Value)
		e.string(c.Unit)
		e.float(c.Logits)
	}
}
