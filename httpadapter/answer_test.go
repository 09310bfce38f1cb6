package httpadapter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/store"
)

// The table from errors to statuses, also for errors that were wrapped.
func TestStatuses(t *testing.T) {
	for err, want := range map[error]int{
		voicescreen.ErrNotFound: 404, voicescreen.ErrConsent: 406, voicescreen.ErrInvalid: 422, voicescreen.ErrConflict: 409,
		voicescreen.ErrTooLate: 422, voicescreen.ErrUpload: 406, voicescreen.ErrAudio: 422, voicescreen.ErrTooLarge: 413,
		voicescreen.ErrBusy: 503, voicescreen.ErrClosed: 503, &voicescreen.InvalidError{}: 422, errors.New("secret"): 500, context.Canceled: 500,
		voicescreen.ErrFull: 503, store.ErrFull: 503, syscall.ENOSPC: 503, &fs.PathError{Op: "write", Path: "/tmp/secret", Err: syscall.ENOSPC}: 503, syscall.EIO: 500,
		voicescreen.ErrUnavailable: 503, fmt.Errorf("store/postgres: secret: %w", store.ErrUnavailable): 503,
	} {
		a := toAnswer(fmt.Errorf("with more: %w", err))
		if a.status != want {
			t.Errorf("%v: got %d, want %d", err, a.status, want)
		}
		if want == 503 && a.header["Retry-After"] == "" || strings.Contains(a.body.(message).Message, "secret") {
			t.Errorf("%v: got %+v, want Retry-After and nothing of the error", err, a)
		}
		if text := a.body.(message).Message; want == 500 && text != internalError {
			t.Errorf("%v: got %q, want nothing of the error", err, text)
		}
	}
}
