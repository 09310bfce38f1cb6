package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// The least bytes that a list's element takes in a record. A count that the
// rest of the record cannot hold is refused before there is memory for it.
const (
	minInt          = 1
	minNumber       = 1 + 8         // name, value
	minContribution = 1 + 8 + 1 + 8 // feature, value, unit, logits
	minSegment      = 3 * 8         // start, end, probability
	minCaution      = 1
	minScore        = 4*1 + 3*8 + 2*1 + 8 + 1*1 // as encoder.score has them; more may follow
)

var (
	errShort    = errors.New("it is cut short")
	errCount    = errors.New("a list is longer than the record")
	errOrder    = errors.New("names are not in order")
	errBool     = errors.New("a flag is neither set nor clear")
	errNumber   = errors.New("a number is malformed")
	errTrailing = errors.New("something follows the last field")
)

// decode returns the session of a record and the checksum of the record of its
// scores and features, "" if it has none. Before version 5 they stood in the same
// record, and are returned with the session. Any damage is ErrCorrupt, which does
// not say what stood in the record. The session shares no memory with b.
func decode(primary, b []byte) (s *store.Session, sum string, err error) {
	if len(b) < headerLen {
		return nil, "", fmt.Errorf("%w: %w", ErrCorrupt, errShort)
	}
	if b[0] < 1 || b[0] > recordVersion {
		return nil, "", fmt.Errorf("%w: a record has version %d, want 1 to %d", ErrCorrupt, b[0], recordVersion)
	}
	if binary.BigEndian.Uint32(b[1:]) != checksum(primary, b) {
		return nil, "", fmt.Errorf("%w: a record does not match its checksum", ErrCorrupt)
	}
	return decodeBody(b[0], string(b[headerLen:])) // the only copy: the strings of the session are parts of it
}

// decodeBody does so with the body of a record of the version.
func decodeBody(version uint8, b string) (s *store.Session, sum string, err error) {
	d := decoder{rest: b}
	if version < 5 {
		s = d.formerSession(version)
	} else {
		s, sum = d.session(), d.string()
	}
	if err := d.end(); err != nil {
		return nil, "", err
	}
	if err := s.Check(); err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return s, sum, nil
}

// decodeAnalysis puts the scores and features of the record b of that checksum
// into s. They share no memory with b.
func decodeAnalysis(primary []byte, sum string, b []byte, s *store.Session) error {
	if len(b) < headerLen || b[0] != analysisVersion {
		return fmt.Errorf("%w: a record of scores has another version or none", ErrCorrupt)
	}
	if string(b[1:headerLen]) != sum || binary.BigEndian.Uint32(b[1:]) != checksum(primary, b) {
		return fmt.Errorf("%w: a record of scores does not match its checksum", ErrCorrupt)
	}
	return decodeAnalysisBody(string(b[headerLen:]), s)
}

// decodeAnalysisBody does so with the body of such a record.
func decodeAnalysisBody(b string, s *store.Session) error {
	d := decoder{rest: b}
	d.analysis(s)
	return d.end()
}

// decoder takes the fields of a record off its front. After the first error all
// of them are zero.
type decoder struct {
	rest string
	err  error
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.rest = ""
}

// end returns the first error; that something is left is one too.
func (d *decoder) end() error {
	if d.err == nil && d.rest != "" {
		d.err = errTrailing
	}
	if d.err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, d.err)
	}
	return nil
}

// take returns the next n bytes, "" if there are fewer.
func (d *decoder) take(n int) string {
	if len(d.rest) < n {
		d.fail(errShort)
		return ""
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) byte() uint8 {
	if b := d.take(1); b != "" {
		return b[0]
	}
	return 0
}

func (d *decoder) uint() uint64 {
	if d.rest != "" && d.rest[0] < 0x80 { // most lengths
		v := d.rest[0]
		d.rest = d.rest[1:]
		return uint64(v)
	}
	var v uint64
	for i := range binary.MaxVarintLen64 {
		b := d.byte()
		if i == binary.MaxVarintLen64-1 && b > 1 {
			break
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return v
		}
	}
	d.fail(errNumber)
	return 0
}

func (d *decoder) int() int {
	u := d.uint()
	v := int64(u>>1) ^ -int64(u&1)
	if int64(int(v)) != v { // written by a program with longer integers
		d.fail(errNumber)
		return 0
	}
	return int(v)
}

func (d *decoder) bool() bool {
	b := d.byte()
	if b > 1 {
		d.fail(errBool)
	}
	return b == 1
}

func (d *decoder) uint32() uint32 {
	b := d.take(4)
	if b == "" {
		return 0
	}
	return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
}

func (d *decoder) uint64() uint64 {
	high := d.uint32()
	return uint64(high)<<32 | uint64(d.uint32())
}

func (d *decoder) float() float64 { return math.Float64frombits(d.uint64()) }

func (d *decoder) time() time.Time {
	sec, nsec := int64(d.uint64()^1<<63), int64(d.uint32())
	if d.err != nil {
		return time.Time{}
	}
	if nsec >= int64(time.Second) {
		d.fail(errNumber)
		return time.Time{}
	}
	return time.Unix(sec, nsec).UTC()
}

func (d *decoder) string() string { return d.take(d.count(1)) }

// count returns the length of a list whose elements take at least size bytes.
func (d *decoder) count(size int) int {
	n := d.uint()
	if n > uint64(len(d.rest)/size) {
		d.fail(errCount)
		return 0
	}
	return int(n)
}

func (d *decoder) ints() []int {
	n := d.count(minInt)
	if n == 0 {
		return nil
	}
	v := make([]int, n)
	for i := range v {
		v[i] = d.int()
	}
	return v
}

func (d *decoder) numbers() map[string]float64 {
	n := d.count(minNumber)
	if n == 0 {
		return nil
	}
	v := make(map[string]float64, n)
	last := ""
	for i := range n {
		name := d.string()
		if i > 0 && name <= last {
			d.fail(errOrder)
			return nil
		}
		v[name], last = d.float(), name
	}
	return v
}

// session reads all fields but scores and features.
func (d *decoder) session() *store.Session {
	s := d.firstFields()
	s.Failure, s.Labels = d.failure(), d.labels()
	s.Notify, s.Notices = d.time(), d.int()
	s.FixedGain, s.Baseline = d.bool(), d.bool()
	return s
}

// firstFields reads those that records of every version begin with.
func (d *decoder) firstFields() *store.Session {
	return &store.Session{
		Account:     d.string(),
		ID:          d.string(),
		UserID:      d.string(),
		Metadata:    d.metadata(),
		Status:      screen.Status(d.byte()),
		CreatedAt:   d.time(),
		UpdatedAt:   d.time(),
		Product:     screen.Product(d.byte()),
		SubmittedAt: d.time(),
		Audio:       d.string(),
		Channel:     d.int(),
		Due:         d.time(),
		Owner:       d.string(),
		Token:       d.uint(),
		Attempts:    d.int(),
	}
}

// formerSession reads the body of a record of version 1 to 4. They had scores
// and features in the midst of the other fields, and each version what was new
// at its end.
func (d *decoder) formerSession(version uint8) *store.Session {
	s := d.firstFields()
	if n := d.count(minScore); n > 0 {
		s.Scores = make([]screen.Score, n)
		for i := range s.Scores {
			s.Scores[i] = d.score()
		}
	}
	s.Features = d.numbers()
	s.Failure, s.Labels = d.failure(), d.labels()
	if version >= 2 {
		s.Notify, s.Notices = d.time(), d.int()
	}
	if version >= 3 {
		s.FixedGain, s.Baseline = d.bool(), d.bool()
		for i := range s.Scores {
			s.Scores[i].Baseline = d.int()
		}
	}
	if version >= 4 {
		for i := range s.Scores {
			d.scoreParts(&s.Scores[i])
		}
	}
	return s
}

// analysis reads scores and features.
func (d *decoder) analysis(s *store.Session) {
	if n := d.count(minScore); n > 0 {
		s.Scores = make([]screen.Score, n)
		for i := range s.Scores {
			s.Scores[i] = d.score()
			s.Scores[i].Baseline = d.int()
			d.scoreParts(&s.Scores[i])
		}
	}
	s.Features = d.numbers()
}

func (d *decoder) failure() *screen.Failure {
	if !d.bool() {
		return nil
	}
	return &screen.Failure{Code: d.string(), Message: d.string(), Data: d.numbers()}
}

func (d *decoder) labels() screen.Labels {
	return screen.Labels{
		PHQ2:       d.ints(),
		PHQ9:       d.ints(),
		GAD7:       d.ints(),
		Depression: screen.Interview(d.byte()),
		UpdatedAt:  d.time(),
	}
}

func (d *decoder) metadata() screen.Metadata {
	m := screen.Metadata{
		Age:       d.int(),
		Gender:    screen.Gender(d.byte()),
		Race:      screen.Race(d.byte()),
		Ethnicity: screen.Ethnicity(d.byte()),
		Zipcode:   d.string(),
	}
	if d.bool() {
		english := d.bool()
		m.English = &english
	}
	m.Weight = d.int()
	return m
}

// scoreParts reads the rest of a score, which version 4 brought.
func (d *decoder) scoreParts(s *screen.Score) {
	s.Prior = d.float()
	if n := d.count(minSegment); n > 0 {
		s.Segments = make([]screen.Segment, n)
		for i := range s.Segments {
			s.Segments[i] = screen.Segment{Start: d.float(), End: d.float(), Probability: d.float()}
		}
	}
	if n := d.count(minCaution); n > 0 {
		s.Cautions = make([]screen.Caution, n)
		for i := range s.Cautions {
			s.Cautions[i] = screen.Caution(d.byte())
		}
	}
}

func (d *decoder) score() screen.Score {
	s := screen.Score{
		Category:    screen.Category(d.byte()),
		Model:       d.string(),
		Version:     d.string(),
		Calibrated:  d.bool(),
		Probability: d.float(),
		Low:         d.float(),
		High:        d.float(),
		Decision:    screen.Decision(d.byte()),
		Severity:    screen.Severity(d.byte()),
		Coverage:    d.float(),
	}
	if n := d.count(minContribution); n > 0 {
		s.Contributions = make([]screen.Contribution, n)
		for i := range s.Contributions {
			s.Contributions[i] = screen.Contribution{Feature: d.string(), Value: d.float(), Unit: d.string(), Logits: d.float()}
		}
	}
	return s
}
