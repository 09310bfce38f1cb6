package store

import (
	"errors"
	"fmt"
)

// DamagedError says that records cannot be read and were passed over. It is
// ErrDamaged.
type DamagedError struct {
	Records int   // how many, at least 1
	Err     error // of the first
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("store: damaged records that were passed over: %d, the first: %v", e.Records, e.Err)
}

// Is says whether target is ErrDamaged.
func (e *DamagedError) Is(target error) bool { return target == ErrDamaged }

func (e *DamagedError) Unwrap() error { return e.Err }

// Add counts in what err passed over, of the calls of one Scan, and returns
// nil; an err that is no DamagedError it returns as it is.
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
