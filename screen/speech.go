package screen

// Speech is the way of speaking that a recording was made in. People pause longer
// and speak more slowly when they search for words, so each way has norms of its
// own. The zero value means "not given": a scorer then weighs the ways.
type Speech uint8

// The values of Speech.
const (
	FreeSpeech Speech = iota + 1 // answers to an open question, a conversation, a monologue
	Picture                      // the description of a picture
	Reading                      // a text read aloud
)

var speeches = NewEnum[Speech]("way of speaking", "free", "picture", "reading")

// Valid reports whether s is one of the values; the zero value is not.
func (s Speech) Valid() bool { return speeches.Valid(s) }

func (s Speech) String() string                { return speeches.String(s) }
func (s Speech) MarshalText() ([]byte, error)  { return speeches.MarshalText(s) }
func (s *Speech) UnmarshalText(b []byte) error { return speeches.Unmarshal(s, b) }

// ParseSpeech returns the Speech of a name: "free", "picture" or "reading". The
// error does not repeat the name.
func ParseSpeech(name string) (Speech, error) { return speeches.Parse(name) }

// Speeches returns all ways of speaking, in ascending order. The slice is the
// caller's.
func Speeches() []Speech { return []Speech{FreeSpeech, Picture, Reading} }
