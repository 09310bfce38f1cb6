package store

import (
	"errors"
	"fmt"
)

// DamagedError is returned by a call that skipped damaged records. To errors.Is it is
// ErrDamaged.
type DamagedError struct {
	Records int   // number of records skipped, at least 1
	Err     error // the error of the first of them
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("store: damaged records that were skipped: %d, the first: %v", e.Records, e.Err)
}

// Is reports whether target is ErrDamaged.
func (e *DamagedError) Is(target error) bool { return target == ErrDamaged }

func (e *DamagedError) Unwrap() error { return e.Err }

// Add adds the records of err to e and returns nil if err is a DamagedError.
// Otherwise it returns err.
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
