package store

import (
	"errors"
	"fmt"
)

// DamagedError says that records cannot be read and were skipped. It is
// ErrDamaged.
type DamagedError struct {
	Records int   // how many, at least 1
	Err     error // of the first
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("store: damaged records that were skipped: %d, the first: %v", e.Records, e.Err)
}

// Is says whether target is ErrDamaged.
func (e *DamagedError) Is(target error) bool { return target == ErrDamaged }

func (e *DamagedError) Unwrap() error { return e.Err }

// Add adds the records that err, a DamagedError of another call of Scan, counts,
// and returns nil. It returns any other error as it is.
func (e *DamagedError) Add(err error) error {
	var more *DamagedError
	if !errors.As(err, &more) {
		return err
	}
	if e.Records == 0 {
		e.Err = more.Err
	}
	e.Records += more.Records
	return nil
}
