package voicescreen

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// The mistakes a caller can make. Errors of this package wrap one of them and
// say what was wrong; test with errors.Is. Any other error is internal, and
// its text is not for the users of a service.
var (
	ErrNotFound = errors.New("voicescreen: not found")                   // the account has no such session
	ErrConsent  = errors.New("voicescreen: consent was not given")       // Initiate without consent; nothing was stored
	ErrInvalid  = errors.New("voicescreen: invalid argument")            // see InvalidError
	ErrConflict = errors.New("voicescreen: conflict")                    // the session is in another state
	ErrTooLate  = errors.New("voicescreen: outside the feedback window") // labels must come within 24 hours of the recording
	ErrUpload   = errors.New("voicescreen: upload failed")               // the recording could not be read to its end
	ErrAudio    = errors.New("voicescreen: audio is not as specified")   // the upload is not the recording asked for
	ErrTooLarge = errors.New("voicescreen: audio is too large")          // more than AudioOptions.MaxBytes
	ErrBusy     = errors.New("voicescreen: the queue is full")           // QueueOptions.Limit is reached
	ErrClosed   = errors.New("voicescreen: engine is closed")            // Close was called
)

// ErrFull says that the store, or the disk under it, has no room: nothing was
// changed, and the call may be repeated when there is room again. It is no mistake
// of the caller, and its text is not for the users of a service either.
var ErrFull = errors.New("voicescreen: the store is full")

// ErrUnavailable says that a server which the store needs does not answer now, a
// database or an S3 server. A later call may succeed. If the server was lost at the end
// of a commit, the change may have been made. It is no mistake of the caller, and its
// text is not for the users of a service.
var ErrUnavailable = errors.New("voicescreen: the store is not available")

// Problem is what is wrong with a field.
// The values are those of the service.
type Problem string

const (
	Unprovided Problem = "unprovided" // missing or empty
	Malformed  Problem = "malformed"  // of a wrong form or out of range
)

// InvalidError names every field at fault. It matches ErrInvalid.
type InvalidError struct {
	Fields map[string]Problem // by name, such as "user_id" or "metadata.zipcode"
	Detail string             // what was wrong, in words; may be empty
}

// Error is the Detail, or else the list of the fields.
func (e *InvalidError) Error() string {
	if e.Detail != "" {
		return ErrInvalid.Error() + ": " + e.Detail
	}
	var b strings.Builder
	b.WriteString(ErrInvalid.Error())
	sep := ": "
	for _, name := range slices.Sorted(maps.Keys(e.Fields)) {
		b.WriteString(sep + name + " is " + string(e.Fields[name]))
		sep = ", "
	}
	return b.String()
}

// Is says that an InvalidError is ErrInvalid.
func (e *InvalidError) Is(target error) bool { return target == ErrInvalid }
