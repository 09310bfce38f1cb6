package bolt

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/voicescreen/voicescreen/store"
)

// An error of a file that cannot grow is known by its text, as bbolt gives no other.
func TestErrorsOfAFullDiskAreKnown(t *testing.T) {
	for err, want := range map[error]bool{
		fmt.Errorf("file resize error: %s", &mockPathError{syscall.ENOSPC}): true,
		fmt.Errorf("file sync error: %s", &mockPathError{syscall.EDQUOT}):   true,
		fmt.Errorf("write: %w", syscall.EFBIG):                              true,
		fmt.Errorf("file sync error: %s", &mockPathError{syscall.EIO}):      false,
		errors.New("database not open"):                                     false,
	} {
		got := withErrno(err)
		if store.IsFull(got) != want || !errors.Is(got, err) {
			t.Errorf("%v: got %v, full %v, want %v", err, got, store.IsFull(got), want)
		}
	}
}

// mockPathError has the text of an error of package os.
type mockPathError struct{ errno syscall.Errno }

func (e *mockPathError) Error() string { return "truncate clinic.db: " + e.errno.Error() }
