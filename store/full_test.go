package store_test

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/voicescreen/voicescreen/store"
)

func TestIsFull(t *testing.T) {
	for _, err := range []error{
		store.ErrFull, syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG,
		fmt.Errorf("store/bolt: commit: %w", &fs.PathError{Op: "write", Path: "/data/clinic.db", Err: syscall.ENOSPC}),
		errors.Join(errors.New("other"), syscall.ENOSPC),
	} {
		if !store.IsFull(err) {
			t.Errorf("%v: got false, want true", err)
		}
	}
	for _, err := range []error{nil, store.ErrClosed, syscall.EIO, syscall.EROFS, errors.New("no space left on device")} {
		if store.IsFull(err) {
			t.Errorf("%v: got true, want false", err)
		}
	}
}
