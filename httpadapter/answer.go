package httpadapter

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/store"
)

// statuses maps the errors that a caller causes to status codes.
var statuses = []struct {
	err    error
	status int
}{
	{voicescreen.ErrNotFound, http.StatusNotFound},
	{voicescreen.ErrConsent, http.StatusNotAcceptable},
	{voicescreen.ErrInvalid, http.StatusUnprocessableEntity},
	{voicescreen.ErrConflict, http.StatusConflict},
	{voicescreen.ErrTooLate, http.StatusUnprocessableEntity},
	{voicescreen.ErrTooLarge, http.StatusRequestEntityTooLarge},
	{voicescreen.ErrUpload, http.StatusNotAcceptable},
	{voicescreen.ErrAudio, http.StatusUnprocessableEntity},
	{voicescreen.ErrBusy, http.StatusServiceUnavailable},
	{voicescreen.ErrClosed, http.StatusServiceUnavailable},
	{voicescreen.ErrFull, http.StatusServiceUnavailable},
	{voicescreen.ErrUnavailable, http.StatusServiceUnavailable},
}

const (
	internalError = "internal server error"

	// retryAfter is the Retry-After of a full queue and of a store that is not
	// available, in seconds. Chosen: one analysis takes about two, so by then the
	// queue has room; and a database starts again in seconds.
	retryAfter = "5"

	// fullRetryAfter is the Retry-After of a full disk or store in seconds. Chosen:
	// somebody must make room, which takes minutes, and few calls fail after it.
	fullRetryAfter = "60"
)

// answer is an error with the status and the body of its answer.
type answer struct {
	status int
	body   any
	header map[string]string
}

// Error returns the text of the status.
func (a *answer) Error() string { return http.StatusText(a.status) }

// message is the body of most answers with an error.
type message struct {
	Message string `json:"message"`
}

// refuse returns an answer with a message.
func refuse(status int, text string) *answer {
	return &answer{status: status, body: message{text}}
}

// toAnswer returns the answer to an error. The answer holds the text of an error
// that the caller caused, and never the text of an internal error.
func toAnswer(err error) *answer {
	var a *answer
	if errors.As(err, &a) {
		return a
	}
	if store.IsFull(err) {
		err = voicescreen.ErrFull // of a temporary file too
	}
	if errors.Is(err, store.ErrUnavailable) {
		err = voicescreen.ErrUnavailable // of the keys too
	}
	for _, s := range statuses {
		if !errors.Is(err, s.err) {
			continue
		}
		a := refuse(s.status, strings.ReplaceAll(err.Error(), "voicescreen: ", ""))
		switch s.err {
		case voicescreen.ErrNotFound:
			a.body = message{"session not found"}
		case voicescreen.ErrClosed:
			a.body = message{"the service is shutting down"}
		case voicescreen.ErrUnavailable:
			a.body = message{"the service is temporarily unavailable"}
		case voicescreen.ErrFull:
			a.body = message{"the store is full"}
			a.header = map[string]string{"Retry-After": fullRetryAfter}
			return a
		}
		if s.status == http.StatusServiceUnavailable {
			a.header = map[string]string{"Retry-After": retryAfter}
		}
		return a
	}
	return refuse(http.StatusInternalServerError, internalError)
}

// writeJSON writes a status and a body.
func writeJSON(w http.ResponseWriter, status int, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err // a bug, answered 500
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(data, '\n')) // an error means that the client has disconnected
	return nil
}
