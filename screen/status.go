package screen

// Status is where a session stands. It only ever moves forward.
type Status uint8

// The values of Status. Their names are those of the service.
const (
	StatusInitiated  Status = iota + 1 // consent was given, no recording has come
	StatusProcessing                   // the recording waits, or a worker analyses it
	StatusSuccess                      // final: there are scores
	StatusFailed                       // final: there is a Failure
)

var statuses = NewEnum[Status]("status", "initiated", "processing", "success", "failed")

// Valid says whether s is one of the values.
func (s Status) Valid() bool { return statuses.Valid(s) }

// Final says whether the session has its result.
func (s Status) Final() bool { return s == StatusSuccess || s == StatusFailed }

func (s Status) String() string                { return statuses.String(s) }
func (s Status) MarshalText() ([]byte, error)  { return statuses.MarshalText(s) }
func (s *Status) UnmarshalText(b []byte) error { return statuses.Unmarshal(s, b) }
