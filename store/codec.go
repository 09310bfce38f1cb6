package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/fxamacker/cbor/v2"

	"github.com/voicescreen/voicescreen/screen"
)

// The codec encodes sessions as CBOR (RFC 8949): maps with the integer keys of the
// struct tags cbor of Session and the types of package screen. A key is never reused
// for another field. Zero fields are omitted, so a new field of an old record is zero.
// Times are RFC 3339 texts in UTC. Numbers are 8 bytes long, and NaN stays NaN.

var encMode, decMode = codecModes()

// maxNested is how deep lists and maps may be nested. Chosen: a session has six
// levels.
const maxNested = 8

func codecModes() (cbor.UserBufferEncMode, cbor.DecMode) {
	enc, err := cbor.EncOptions{
		Sort:          cbor.SortCoreDeterministic, // one record has one encoding
		Time:          cbor.TimeRFC3339NanoUTC,
		NilContainers: cbor.NilContainerAsNull,
		IndefLength:   cbor.IndefLengthForbidden,
	}.UserBufferEncMode()
	if err != nil {
		panic(err) // impossible: the options are consistent
	}
	dec, err := cbor.DecOptions{
		DupMapKey:        cbor.DupMapKeyEnforcedAPF,
		IndefLength:      cbor.IndefLengthForbidden,
		TagsMd:           cbor.TagsForbidden,
		MaxNestedLevels:  maxNested,
		MaxArrayElements: screen.MaxSegments,
		MaxMapPairs:      screen.MaxFeatures,
	}.DecMode()
	if err != nil {
		panic(err)
	}
	return enc, dec
}

// Marshal returns the encoding of a session. It does not check the session.
func Marshal(s *Session) ([]byte, error) {
	b, err := encMode.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("store: encode a session: %w", err)
	}
	return b, nil
}

// Unmarshal is the inverse of Marshal. The session is in the form of Session.Normalize
// and shares no memory with b. Unknown keys, which a later version wrote, are ignored,
// and are lost when the session is written again. The error is ErrDamaged for anything
// else that Marshal does not write, and for a session that Session.Check refuses. The
// memory that Unmarshal allocates is proportional to len(b).
func Unmarshal(b []byte) (*Session, error) {
	s := &Session{}
	if err := decode(b, s); err != nil {
		return nil, err
	}
	s.Normalize()
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	return s, nil
}

// analysis is the scores and features of a session, which are most of it.
type analysis struct {
	Scores   []screen.Score     `cbor:"18,keyasint,omitempty"`
	Features map[string]float64 `cbor:"19,keyasint,omitempty"`
}

// AppendAnalysis appends the encoding of only Scores and Features to b, with the keys of
// Marshal, for stores that keep them in a value of their own.
func AppendAnalysis(b []byte, s *Session) ([]byte, error) {
	text := bytes.NewBuffer(b)
	if err := encMode.MarshalToBuffer(&analysis{Scores: s.Scores}, text); err != nil {
		return nil, fmt.Errorf("store: encode scores: %w", err)
	}
	whole := text.Bytes()
	if len(s.Features) > 0 {
		whole[len(b)]++ // one pair more in the head of a small map
		whole = appendNumbers(append(whole, keyFeatures), s.Features)
	}
	return whole, nil
}

// keyFeatures is the key of analysis.Features.
const keyFeatures = 19

// recentNames is the names of the numbers encoded last, in order. All results of a
// program usually have the features of one schema.
var recentNames atomic.Pointer[[]string]

// appendNumbers appends the encoding of named numbers, which is the library's: in the
// bytewise order of the encoded names, so shorter names first. The library takes six
// times as long for a hundred numbers.
func appendNumbers(b []byte, numbers map[string]float64) []byte {
	b = slices.Grow(b, 32*len(numbers))
	if names := recentNames.Load(); names != nil && len(*names) == len(numbers) {
		if whole, ok := appendNamed(b, *names, numbers); ok {
			return whole
		}
	}
	names := slices.SortedFunc(maps.Keys(numbers), func(x, y string) int { return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)) })
	recentNames.Store(&names)
	b, _ = appendNamed(b, names, numbers)
	return b
}

// appendNamed appends the encoding of numbers in the order of names. It returns false if
// numbers lacks one of the names.
func appendNamed(b []byte, names []string, numbers map[string]float64) ([]byte, bool) {
	b = appendHead(b, cborMap, len(names))
	for _, name := range names {
		x, ok := numbers[name]
		if !ok {
			return nil, false
		}
		b = append(appendHead(b, cborText, len(name)), name...)
		switch {
		case math.IsNaN(x):
			b = append(b, cborHalf, 0x7e, 0)
		case math.IsInf(x, 1):
			b = append(b, cborHalf, 0x7c, 0)
		case math.IsInf(x, -1):
			b = append(b, cborHalf, 0xfc, 0)
		default:
			b = binary.BigEndian.AppendUint64(append(b, cborDouble), math.Float64bits(x))
		}
	}
	return b, true
}

// appendHead appends the head of an item: its major type and argument.
func appendHead(b []byte, major byte, n int) []byte {
	switch {
	case n < 24:
		return append(b, major<<5|byte(n))
	case n < 1<<8:
		return append(b, major<<5|24, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, major<<5|25), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, major<<5|26), uint32(n))
}

// UnmarshalAnalysis is the inverse of AppendAnalysis. It replaces Scores and Features of
// s, and checks s with them. The errors are those of Unmarshal; after an error s is
// unchanged.
func UnmarshalAnalysis(b []byte, s *Session) error {
	var a analysis
	if err := decode(b, &a); err != nil {
		return err
	}
	whole := *s
	whole.Scores, whole.Features = a.Scores, a.Features
	whole.Normalize()
	if err := whole.Check(); err != nil {
		return fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	*s = whole
	return nil
}

// decode reads one item of CBOR.
func decode(b []byte, v any) error {
	rest, err := skip(b, maxNested)
	if err == nil && len(rest) > 0 {
		err = errTrailing
	}
	if err == nil {
		err = decMode.Unmarshal(b, v)
	}
	if err != nil {
		return fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	return nil
}

var (
	errShort    = errors.New("it is cut short")
	errTrailing = errors.New("something follows")
	errNested   = errors.New("lists are nested too deep")
	errSparse   = errors.New("a list has more elements than its length justifies")
)

const (
	// minElement is the smallest average size of the elements of a long list, in
	// bytes: a contribution without texts and deviation has 25, and takes 64 bytes
	// of memory.
	minElement = 25
	// fewElements is the number of elements up to which they may be shorter: numbers,
	// cautions, scores. Chosen: 64 scores take 15 KB of memory.
	fewElements = screen.MaxScores
)

// skip returns the part of b after the first item. It refuses lists of many short
// elements, for which the library would allocate memory out of proportion to len(b)
// before it reads them. The library refuses all other malformed items.
func skip(b []byte, nested int) (rest []byte, err error) {
	if nested == 0 {
		return nil, errNested
	}
	major, n, rest, err := head(b)
	if err != nil {
		return nil, err
	}
	list, items := rest, n
	switch major {
	case cborBytes, cborText:
		if n > uint64(len(rest)) {
			return nil, errShort
		}
		return rest[n:], nil
	case cborMap:
		items = 2 * n
	case cborArray:
	default:
		return rest, nil
	}
	if n > uint64(len(rest)) { // an item has at least one byte
		return nil, errShort
	}
	for range items {
		if rest, err = skip(rest, nested-1); err != nil {
			return nil, err
		}
	}
	if major == cborArray && n > fewElements && uint64(len(list)-len(rest)) < minElement*n {
		return nil, errSparse
	}
	return rest, nil
}

// The major types of CBOR with a content.
const (
	cborBytes = 2
	cborText  = 3
	cborArray = 4
	cborMap   = 5
)

// The initial bytes of numbers of 2 and of 8 bytes.
const (
	cborHalf   = 0xf9
	cborDouble = 0xfb
)

// head reads the head of an item: its major type and argument.
func head(b []byte) (major byte, n uint64, rest []byte, err error) {
	if len(b) == 0 {
		return 0, 0, nil, errShort
	}
	major, info, rest := b[0]>>5, b[0]&0x1f, b[1:]
	if info < 24 {
		return major, uint64(info), rest, nil
	}
	size := 1 << (info - 24)
	if info > 27 || len(rest) < size {
		return 0, 0, nil, errShort
	}
	for _, x := range rest[:size] {
		n = n<<8 | uint64(x)
	}
	return major, n, rest[size:], nil
}
