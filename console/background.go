package console

import (
	"errors"
	"log/slog"
	"runtime/debug"
)

// errPanic is the error of work that panicked.
var errPanic = errors.New("console: panic")

// survive calls f, and returns errPanic if it panics: a request is answered and audited
// all the same, and work in the background does not end the process of the host. The
// stack is logged, and not the value of the panic, which may quote data of a patient.
func survive(log *slog.Logger, f func() error) (err error) {
	defer func() {
		if recover() != nil {
			log.Error("panic", "stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	return f()
}
