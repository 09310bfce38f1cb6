package durable

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// DecodeJSON decodes the one JSON value in data into v, a pointer, as
// encoding/json does, and refuses members that v does not have. The last of two
// members of one name counts, and a missing member leaves its field as it is.
// It is for files that the operator owns: memory is bounded by Format.MaxBytes,
// and a file of nothing but values of the wrong type takes 150 times its size.
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
