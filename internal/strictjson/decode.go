// Package strictjson decodes JSON files from outside whose form is a Go type.
// It takes only what is wholly of that form, and no more memory than the type
// and its limits allow, whatever the file holds: lists are counted before they
// are made, and a fault ends the decoding. encoding/json takes members that are
// missing, spelt otherwise or there twice, grows lists step by step, and goes
// on behind values that do not fit.
package strictjson

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strconv"
	"unicode/utf8"
)

// maxText is how many bytes a text, a name or a number may have as it stands in
// the file; base64 may have more. Chosen: the longest that the program writes,
// the description of a model, has 1 % of it, and texts come to stand in errors.
const maxText = 64 << 10

// Error says where a file is not of the form.
type Error struct {
	Path   string // of the value at fault, such as "features[3].unit"; "" is the whole file
	Reason string
}

func (e *Error) Error() string {
	if e.Path == "" {
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

// Document is one JSON value in UTF-8, as text.
type Document struct{ b []byte }

// Parse returns the document that b holds, which must not change afterwards. An
// error says that b holds none, and is an *Error.
func Parse(b []byte) (Document, error) {
	if !utf8.Valid(b) {
		return Document{}, &Error{Reason: "is not UTF-8"}
	}
	if !json.Valid(b) {
		return Document{}, &Error{Reason: json.Unmarshal(b, new(struct{})).Error()} // which says where
	}
	return Document{b}, nil
}

// Decode decodes the document in b into v; see [Document.Decode].
func Decode(b []byte, v any) error {
	d, err := Parse(b)
	if err != nil {
		return err
	}
	return d.Decode(v)
}

// Decode decodes the document into v, a pointer. Types are decoded as
// encoding/json does, with these differences: each field of a struct must be
// there once, spelt as in its tag, unless that says omitempty or omitzero;
// other members are refused; so is a member of a map that is there twice, and
// null for anything but a pointer, a slice or a map. A field's tag most says how
// many elements a slice or a map may have, and with slices in a slice each of
// them. Fields are numbers, strings, booleans, base64, types with a method
// UnmarshalText or UnmarshalJSON, and pointers to, slices, maps and structs of
// those; Decode panics for others. Decoding nests no deeper than the type of v.
// An error is an *Error. Where there is one, v may have been decoded in part.
func (doc Document) Decode(v any) error {
	d := decoder{b: doc.b}
	if err := d.value(reflect.ValueOf(v).Elem(), 0); err != nil {
		return err
	}
	return nil
}

// Member returns the text that a member of the object has as its value, "" if
// there is none or it is no text, and the first if there are several.
func (doc Document) Member(name string) string {
	d := decoder{b: doc.b}
	if d.space(); d.b[d.at] != '{' {
		return ""
	}
	for d.at++; d.next('}'); {
		key := d.skipText()
		d.colon()
		if string(key) == strconv.Quote(name) && d.b[d.at] == '"' {
			text, _ := d.text() // nil if it is too long for one
			return string(text)
		}
		d.raw()
	}
	return ""
}

// decoder reads JSON that is valid.
type decoder struct {
	b  []byte
	at int // of the next byte
}

var (
	fromJSON = reflect.TypeFor[json.Unmarshaler]()
	fromText = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// value decodes the next value. A list has at most that many elements, 0 is any
// number.
func (d *decoder) value(v reflect.Value, most int) *Error {
	d.space()
	c := d.b[d.at]
	kind := v.Kind()
	if c == 'n' {
		d.raw()
		if kind != reflect.Pointer && kind != reflect.Slice && kind != reflect.Map {
			return &Error{Reason: "is null"}
		}
		v.SetZero()
		return nil
	}
	if kind == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(v.Elem(), most)
	}
	switch p := reflect.PointerTo(v.Type()); {
	case p.Implements(fromJSON):
		return failed(v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(d.raw()))
	case p.Implements(fromText):
		text, err := d.string()
		if err != nil {
			return err
		}
		return failed(v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(text))
	}
	switch kind {
	case reflect.Struct:
		return d.members(v)
	case reflect.Map:
		return d.table(v, most)
	case reflect.Slice:
		if isByte(v.Type().Elem()) {
			return d.bytes(v)
		}
		return d.list(v, most)
	}
	return d.scalar(v)
}

// isByte says whether slices of t are base64, as encoding/json has it.
func isByte(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return t.Kind() == reflect.Uint8 && !p.Implements(fromJSON) && !p.Implements(fromText)
}

// scalar decodes a value that has no parts.
func (d *decoder) scalar(v reflect.Value) *Error {
	if v.Kind() == reflect.String {
		text, err := d.string()
		v.SetString(string(text))
		return err
	}
	raw := d.raw()
	if len(raw) > maxText {
		return tooLong()
	}
	ok := false
	switch text := string(raw); v.Kind() {
	case reflect.Bool:
		v.SetBool(text == "true")
		ok = text == "true" || text == "false"
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		v.SetFloat(x)
		ok = err == nil
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		v.SetInt(n)
		ok = err == nil
	case reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, v.Type().Bits())
		v.SetUint(n)
		ok = err == nil
	default:
		panic("strictjson: no way to decode a " + v.Type().String())
	}
	if !ok {
		return unfit(raw)
	}
	return nil
}

// list decodes an array. Memory is taken for as many elements as its text has
// room for if they are of the form, and one more, at which decoding ends if it
// says that there are more.
func (d *decoder) list(v reflect.Value, most int) *Error {
	if d.b[d.at] != '[' {
		return unfit(d.raw())
	}
	start := d.at
	n := d.count()
	if most > 0 && n > most {
		return tooMany(most)
	}
	n = min(n, (d.at-start)/(leastOf(v.Type().Elem())+len(","))+1)
	v.Set(reflect.MakeSlice(v.Type(), n, n))
	d.at = start + 1
	for i := 0; d.next(']'); i++ {
		if err := d.value(v.Index(i), most); err != nil {
			return err.in("[" + strconv.Itoa(i) + "]")
		}
	}
	return nil
}

// count goes behind the array that comes next and returns how many elements it
// has.
func (d *decoder) count() int {
	n := 0
	for d.at++; d.next(']'); n++ {
		d.raw()
	}
	return n
}

// table decodes an object of any names.
func (d *decoder) table(v reflect.Value, most int) *Error {
	if d.b[d.at] != '{' {
		return &Error{Reason: "want an object"}
	}
	t := v.Type()
	v.Set(reflect.MakeMap(t))
	key, item := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
	for d.at++; d.next('}'); {
		if most > 0 && v.Len() == most {
			return tooMany(most)
		}
		text, err := d.text()
		if err != nil {
			return err
		}
		d.colon()
		name := string(text)
		if u, ok := key.Addr().Interface().(encoding.TextUnmarshaler); ok {
			if err := failed(u.UnmarshalText(text)); err != nil {
				return err.in(name)
			}
		} else {
			key.SetString(name)
		}
		if v.MapIndex(key).IsValid() {
			return &Error{name, "is there twice in one object"}
		}
		item.SetZero()
		if err := d.value(item, 0); err != nil {
			return err.in(name)
		}
		v.SetMapIndex(key, item)
	}
	return nil
}

// members decodes an object into a struct.
func (d *decoder) members(v reflect.Value) *Error {
	if d.b[d.at] != '{' {
		return &Error{Reason: "want an object"}
	}
	form := formOf(v.Type())
	var seen uint64 // a bit a field
	for d.at++; d.next('}'); {
		i, err := d.name(form)
		if err != nil {
			return err
		}
		f := &form[i]
		if seen&(1<<i) != 0 {
			return &Error{f.name, "is there twice in one object"}
		}
		seen |= 1 << i
		if err := d.value(v.FieldByIndex(f.index), f.most); err != nil {
			return err.in(f.name)
		}
	}
	for i, f := range form {
		if !f.optional && seen&(1<<i) == 0 {
			return &Error{f.name, "is missing"}
		}
	}
	return nil
}

// name goes from a name to its value, and returns which field it is the name of.
func (d *decoder) name(fields form) (int, *Error) {
	text, err := d.text()
	if err != nil {
		return 0, err
	}
	i := fields.find(text)
	if i < 0 {
		return 0, &Error{string(text), "is unknown"}
	}
	d.colon()
	return i, nil
}

// string decodes a text, or says that something else is there.
func (d *decoder) string() ([]byte, *Error) {
	if d.b[d.at] != '"' {
		return nil, unfit(d.raw())
	}
	return d.text()
}

// text decodes the text that comes next. It may be a part of the document.
func (d *decoder) text() ([]byte, *Error) {
	raw := d.skipText()
	if len(raw) > maxText {
		return nil, tooLong()
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return []byte(s), failed(err)
}

// bytes decodes base64.
func (d *decoder) bytes(v reflect.Value) *Error {
	if d.b[d.at] != '"' {
		return unfit(d.raw())
	}
	raw := d.skipText()
	if bytes.IndexByte(raw, '\\') >= 0 {
		return failed(json.Unmarshal(raw, v.Addr().Interface()))
	}
	raw = raw[1 : len(raw)-1]
	out := make([]byte, base64.StdEncoding.DecodedLen(len(raw)))
	n, err := base64.StdEncoding.Decode(out, raw)
	v.SetBytes(out[:n])
	return failed(err)
}
