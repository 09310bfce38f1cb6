package models

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// readModel reads the text of a model file and its format, which must be one of
// formats. The text is valid JSON in UTF-8.
func readModel(r io.Reader, formats ...string) (text []byte, format string, err error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxFileSize+1))
	if err != nil {
		return nil, "", fmt.Errorf("models: read model file: %w", err)
	}
	if len(b) > MaxFileSize {
		return nil, "", &FileError{Reason: fmt.Sprintf("more than %d bytes", MaxFileSize)}
	}
	if !utf8.Valid(b) {
		return nil, "", &FileError{Reason: "is not UTF-8"}
	}
	var head struct{ Format string }
	var wrongType *json.UnmarshalTypeError // leaves the format empty
	if err := json.Unmarshal(b, &head); err != nil && !errors.As(err, &wrongType) {
		return nil, "", &FileError{Reason: err.Error()}
	}
	if !slices.Contains(formats, head.Format) {
		return nil, "", &FileError{"format", fmt.Sprintf("got %.40q, want %s", head.Format, strings.Join(formats, " or "))}
	}
	return b, head.Format, nil
}

// decoder decodes a model file as encoding/json does. A missing weight must not
// become 0, so decoder refuses what encoding/json accepts: a missing member
// (unless its tag has omitempty), a name in other letters, a repeated member,
// and null for anything but a pointer or a slice. Each error is a *FileError.
type decoder struct{ *json.Decoder }

// decode decodes text, valid JSON, into v, a pointer to a struct.
func decode(text []byte, v any) error {
	return decoder{json.NewDecoder(bytes.NewReader(text))}.value(reflect.ValueOf(v).Elem(), "")
}

// value decodes the next value of the text into v. path is that of the value in the
// file. Every pointer in the types of model files points to a struct.
func (d decoder) value(v reflect.Value, path string) error {
	switch kind := v.Kind(); {
	case kind == reflect.Pointer, kind == reflect.Struct:
		return d.object(v, path)
	case kind == reflect.Slice:
		return d.array(v, path)
	}
	p := reflect.New(reflect.PointerTo(v.Type())) // nil after null
	if err := d.Decode(p.Interface()); err != nil {
		return &FileError{path, strings.TrimPrefix(err.Error(), "json: ")}
	}
	if p.Elem().IsNil() {
		return &FileError{path, "is null"}
	}
	v.Set(p.Elem().Elem())
	return nil
}

func (d decoder) array(v reflect.Value, path string) error {
	switch t, _ := d.Token(); t {
	case nil:
		return nil
	case json.Delim('['):
	default:
		return &FileError{path, "want an array"}
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	element := reflect.New(v.Type().Elem()).Elem()
	for d.More() {
		element.SetZero()
		if err := d.value(element, fmt.Sprintf("%s[%d]", path, v.Len())); err != nil {
			return err
		}
		v.Set(reflect.Append(v, element))
	}
	_, err := d.Token()
	return err
}

func (d decoder) object(v reflect.Value, path string) error {
	switch t, _ := d.Token(); {
	case t == nil && v.Kind() == reflect.Pointer:
		return nil
	case t == nil:
		return &FileError{path, "is null"}
	case t != json.Delim('{'):
		return &FileError{path, "want an object"}
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if path != "" {
		path += "."
	}
	seen := make([]bool, v.NumField())
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name := t.(string) // the type of every name
		i := 0
		for i < len(seen) && memberName(v, i) != name {
			i++
		}
		if i == len(seen) {
			return &FileError{path + name, "is unknown"}
		}
		if seen[i] {
			return &FileError{path + name, "is there twice"}
		}
		seen[i] = true
		if err := d.value(v.Field(i), path+name); err != nil {
			return err
		}
	}
	for i := range seen {
		if !seen[i] && !strings.HasSuffix(v.Type().Field(i).Tag.Get("json"), ",omitempty") {
			return &FileError{path + memberName(v, i), "is missing"}
		}
	}
	_, err := d.Token()
	return err
}

// memberName is the name in JSON of field i of a struct.
func memberName(v reflect.Value, i int) string {
	name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
	return name
}
