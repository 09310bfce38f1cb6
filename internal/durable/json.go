package durable

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// DecodeJSON decodes data, which must be one JSON value, into the pointer v, as
// encoding/json does. It refuses members that v does not have. The last of several
// members with one name counts, and a missing member leaves its field unchanged. Use it
// only for files that the operator owns and whose size is limited: a file full of values
// of the wrong type takes 150 times its size in memory.
func DecodeJSON(data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("json: more follows the first value")
	}
	return nil
}
