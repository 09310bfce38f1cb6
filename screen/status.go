package screen

// Status is the state of a session. It only moves forward.
type Status uint8

// The values of Status, with the names of the service.
const (
	StatusInitiated  Status = iota + 1 // consent was given; no recording was submitted yet
	StatusProcessing                   // the recording waits or is analysed
	StatusSuccess                      // final: the session has scores
	StatusFailed                       // final: the session has a Failure
)

var statuses = NewEnum[Status]("status", "initiated", "processing", "success", "failed")

// Valid reports whether s is one of the values; the zero value is not.
func (s Status) Valid() bool { return statuses.Valid(s) }

// Final reports whether the session has its result.
func (s Status) Final() bool { return s == StatusSuccess || s == StatusFailed }

func (s Status) String() string                { return statuses.String(s) }
func (s Status) MarshalText() ([]byte, error)  { return statuses.MarshalText(s) }
func (s *Status) UnmarshalText(b []byte) error { return statuses.Unmarshal(s, b) }
