package store

import "errors"

// ErrUnavailable says that a server which a store needs does not answer, or answers that
// it cannot serve now. A later attempt may succeed. A store returns it wrapped. The
// effect of the call is unknown only where the documentation of the method says so.
var ErrUnavailable = errors.New("store: the server is not available")
