package strictjson

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// The methods here read JSON that is valid, so that they need not check it.

func (d *decoder) space() {
	for d.at < len(d.b) && isSpace(d.b[d.at]) {
		d.at++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// next goes to the next element of an array or object, or behind its end, and
// then returns false.
func (d *decoder) next(end byte) bool {
	for isSpace(d.b[d.at]) || d.b[d.at] == ',' {
		d.at++
	}
	if d.b[d.at] == end {
		d.at++
		return false
	}
	return true
}

// colon goes from behind a name to the value.
func (d *decoder) colon() {
	d.space()
	d.at++
	d.space()
}

// raw goes behind the value that comes next and returns how it stands there.
func (d *decoder) raw() []byte {
	d.space()
	start, level := d.at, 0
	for {
		switch c := d.b[d.at]; {
		case c == '"':
			d.skipText()
		case c == '{' || c == '[':
			level++
			d.at++
		case c == '}' || c == ']':
			level--
			d.at++
		case c == ',' || c == ':' || isSpace(c):
			d.at++
			continue
		default: // a number, true, false or null
			for d.at < len(d.b) && !isSpace(d.b[d.at]) && strings.IndexByte(",]}", d.b[d.at]) < 0 {
				d.at++
			}
		}
		if level == 0 {
			return d.b[start:d.at]
		}
	}
}

// skipText goes behind the text that comes next and returns it with its quotes.
func (d *decoder) skipText() []byte {
	start := d.at
	for d.at++; d.b[d.at] != '"'; d.at++ {
		if d.b[d.at] == '\\' {
			d.at++
		}
	}
	d.at++
	return d.b[start:d.at]
}

// in says that e is about a part of the value of a name, or of an index in
// brackets.
func (e *Error) in(name string) *Error {
	switch {
	case e.Path == "":
		e.Path = name
	case e.Path[0] == '[':
		e.Path = name + e.Path
	default:
		e.Path = name + "." + e.Path
	}
	return e
}

// failed is the error of a decoder that is not of this package, nil for none.
func failed(err error) *Error {
	if err == nil {
		return nil
	}
	return &Error{Reason: err.Error()}
}

func tooLong() *Error { return &Error{Reason: fmt.Sprintf("more than %d bytes", maxText)} }

func tooMany(most int) *Error { return &Error{Reason: fmt.Sprintf("more than %d elements", most)} }

// unfit says what stands where something else belongs.
func unfit(raw []byte) *Error {
	kind := "number"
	switch raw[0] {
	case '{':
		kind = "object"
	case '[':
		kind = "array"
	case '"':
		kind = "string"
	case 't', 'f':
		kind = "bool"
	}
	if kind == "number" && len(raw) <= 40 { // as long as any that a program writes
		kind += " " + string(raw)
	}
	return &Error{Reason: "a " + kind + " does not fit"}
}

// form is what an object must look like to become a struct: its fields.
type form []formField

type formField struct {
	name     string // in JSON
	index    []int  // in the struct, through those that it embeds
	most     int    // elements, 0 is any number
	optional bool
}

// find returns which field has a name, −1 if none.
func (f form) find(name []byte) int {
	for i := range f {
		if f[i].name == string(name) {
			return i
		}
	}
	return -1
}

// leastOf is how many bytes of JSON a value of a type has at least.
func leastOf(t reflect.Type) int {
	p := reflect.PointerTo(t)
	switch kind := t.Kind(); {
	case p.Implements(fromJSON):
		return 1
	case p.Implements(fromText), kind == reflect.String, kind == reflect.Slice, kind == reflect.Map:
		return len(`""`)
	case kind == reflect.Pointer:
		return min(len("null"), leastOf(t.Elem()))
	case kind == reflect.Struct:
		least := len("{}")
		for _, f := range formOf(t) {
			if !f.optional {
				least += len(`"":,`) + len(f.name) + leastOf(t.FieldByIndex(f.index).Type)
			}
		}
		return max(least-len(","), len("{}"))
	}
	return 1
}

// maxFields is how many fields a struct may have: bits of a number.
const maxFields = 64

var forms sync.Map // reflect.Type to form

// formOf returns the form of a type of struct.
func formOf(t reflect.Type) form {
	if f, ok := forms.Load(t); ok {
		return f.(form)
	}
	var f form
	for _, field := range reflect.VisibleFields(t) {
		name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() || name == "-" || field.Anonymous {
			continue // the fields of what is embedded are visible by themselves
		}
		if name == "" {
			name = field.Name
		}
		most := 0
		if tag, ok := field.Tag.Lookup("most"); ok {
			most, _ = strconv.Atoi(tag)
			if most <= 0 {
				panic("strictjson: tag most of field " + field.Name + " of " + t.String() + " is no number")
			}
		}
		f = append(f, formField{name, field.Index, most, option == "omitempty" || option == "omitzero"})
	}
	if len(f) > maxFields {
		panic("strictjson: too many fields in " + t.String())
	}
	forms.Store(t, f)
	return f
}
