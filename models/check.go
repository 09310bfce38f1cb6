package models

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// schemas holds every schema that a model file may name.
var schemas = map[string]*Schema{
	voiceSchema.name: voiceSchema,
	spoofSchema.name: spoofSchema,
}

// checkOnce says which key an object has twice: decoding alone would take the
// last. b is valid JSON.
func checkOnce(b []byte) error {
	type level struct {
		keys  map[string]bool // nil in an array
		isKey bool            // whether the next token of the object is a key
	}
	var stack []level
	d := json.NewDecoder(bytes.NewReader(b))
	for {
		t, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return decodeError(err)
		}
		var top *level
		if len(stack) > 0 {
			top = &stack[len(stack)-1]
		}
		key, isText := t.(string)
		if top != nil && top.isKey && isText {
			if top.keys[key] {
				return &FileError{key, "is there twice in one object"}
			}
			top.keys[key], top.isKey = true, false
			continue
		}
		if top != nil && top.keys != nil {
			top.isKey = true // after this value, or this end
		}
		switch t {
		case json.Delim('{'):
			stack = append(stack, level{keys: map[string]bool{}, isKey: true})
		case json.Delim('['):
			stack = append(stack, level{})
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:len(stack)-1]
		}
	}
}

// checkPresent says which field is missing from the JSON of a File, or spelt
// in other letters: decoding alone would leave it 0, or take it.
func checkPresent(b []byte) error {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return decodeError(err)
	}
	return present(v, reflect.TypeFor[File](), "")
}

// present walks the value beside the type it was decoded into.
func present(v any, t reflect.Type, path string) error {
	switch t.Kind() {
	case reflect.Pointer:
		if v == nil {
			return nil
		}
		return present(v, t.Elem(), path)
	case reflect.Slice:
		list, _ := v.([]any)
		for i, item := range list {
			if err := present(item, t.Elem(), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		m, ok := v.(map[string]any)
		if !ok {
			return &FileError{path, "want an object"}
		}
		return presentFields(m, t, path)
	default:
		if v == nil {
			return &FileError{path, "is null"}
		}
	}
	return nil
}

func presentFields(m map[string]any, t reflect.Type, path string) error {
	names := map[string]bool{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		names[name] = true
		at := strings.TrimPrefix(path+"."+name, ".")
		v, ok := m[name]
		if !ok {
			if rest == "omitempty" {
				continue
			}
			return &FileError{at, "is missing"}
		}
		if err := present(v, f.Type, at); err != nil {
			return err
		}
	}
	for key := range m {
		if !names[key] {
			return &FileError{strings.TrimPrefix(path+"."+key, "."), "is unknown"}
		}
	}
	return nil
}

// Check says what is wrong with the file, as a *FileError, or nil.
func (f *File) Check() error {
	n := len(SeverityNames(f.Category))
	for _, c := range []struct {
		ok     bool
		path   string
		reason string
	}{
		{f.Format == FileFormat, "format", "want " + FileFormat},
		{f.Name != "", "name", "is empty"},
		{f.Version != "", "version", "is empty"},
		{int(f.Category) >= 1 && int(f.Category) <= len(categoryNames), "category", "is unknown"},
		{finite(f.Intercept), "intercept", "is not finite"},
		{finite(f.LogitSD) && f.LogitSD >= 0, "logit_sd", "want a finite number ≥ 0"},
		{finite(f.Clip) && f.Clip > 0, "clip", "want a finite number > 0"},
		{f.Calibration == nil || finite(f.Calibration.A) && f.Calibration.A > 0, "calibration.a", "want a finite number > 0"},
		{f.Calibration == nil || finite(f.Calibration.B), "calibration.b", "is not finite"},
		{f.Indeterminate.Low >= 0, "indeterminate.low", "want 0 to 1"},
		{f.Indeterminate.High <= 1, "indeterminate.high", "want 0 to 1"},
		{f.Indeterminate.Low <= f.Indeterminate.High, "indeterminate", "want low ≤ high"},
		{f.IsCalibrated == (f.CalibratedOn != ""), "calibrated_on", "want a text exactly if is_calibrated"},
		{len(f.TrainedOn) > 0, "trained_on", "is empty"},
		{f.Licence != "", "licence", "is empty"},
		{f.Link.Kind == Logit || f.Link.Kind == Ordinal, "link.kind", "is unknown"},
		{f.Link.Kind != Ordinal || n > 0, "link.kind", "the category has no classes"},
	} {
		if !c.ok {
			return &FileError{c.path, c.reason}
		}
	}
	if err := f.Link.check(n); err != nil {
		return err
	}
	if err := f.checkRecords(); err != nil {
		return err
	}
	return f.checkFeatures()
}

// check verifies the parts of a link over n classes.
func (l *Link) check(n int) error {
	if l.Kind == Logit {
		if l.Thresholds != nil || l.Cuts != nil || l.Decision != 0 {
			return &FileError{"link", "a logit link has no thresholds, cuts or decision"}
		}
		return nil
	}
	if l.Decision < 1 || l.Decision >= n {
		return &FileError{"link.decision", fmt.Sprintf("got %d, want 1 to %d", l.Decision, n-1)}
	}
	for path, x := range map[string][]float64{"link.thresholds": l.Thresholds, "link.cuts": l.Cuts} {
		if len(x) != n-1 {
			return &FileError{path, fmt.Sprintf("got %d, want %d", len(x), n-1)}
		}
		if slices.ContainsFunc(x, func(v float64) bool { return !finite(v) }) {
			return &FileError{path, "are not finite"}
		}
		for i := 1; i < len(x); i++ {
			if x[i] <= x[i-1] {
				return &FileError{fmt.Sprintf("%s[%d]", path, i), "want ascending values"}
			}
		}
	}
	return nil
}

// checkRecords verifies what the file says about its own origin.
func (f *File) checkRecords() error {
	for i, d := range f.TrainedOn {
		if d.Data == "" || d.Licence == "" || d.Rows < 0 {
			return &FileError{fmt.Sprintf("trained_on[%d]", i), "want data, licence and rows ≥ 0"}
		}
	}
	for i, m := range f.Metrics {
		path := fmt.Sprintf("metrics[%d]", i)
		if m.Name == "" || m.Interval == "" || m.Data == "" || m.Split == "" || m.N <= 0 {
			return &FileError{path, "want name, interval, data, split and n > 0"}
		}
		if !finite(m.Value) || !(m.Low <= m.Value && m.Value <= m.High) || !finite(m.Low) || !finite(m.High) {
			return &FileError{path, "want finite low ≤ value ≤ high"}
		}
	}
	return nil
}

// checkFeatures verifies the features against their schema, name and unit.
func (f *File) checkFeatures() error {
	schema, ok := schemas[f.Schema]
	if !ok {
		return &FileError{"schema", fmt.Sprintf("unknown schema %q", f.Schema)}
	}
	if len(f.Features) == 0 {
		return &FileError{"features", "are empty"}
	}
	seen := map[string]bool{}
	for i, x := range f.Features {
		path := fmt.Sprintf("features[%d]", i)
		at := schema.Index(x.Name)
		if at < 0 {
			return &FileError{path + ".name", fmt.Sprintf("schema %s has no feature %q", f.Schema, x.Name)}
		}
		if _, unit := schema.Feature(at); unit != x.Unit {
			return &FileError{path + ".unit", fmt.Sprintf("%s is in %q, not in %q", x.Name, unit, x.Unit)}
		}
		switch {
		case seen[x.Name]:
			return &FileError{path + ".name", x.Name + " is there twice"}
		case !finite(x.Center):
			return &FileError{path + ".center", "is not finite"}
		case !finite(x.Scale) || x.Scale <= 0:
			return &FileError{path + ".scale", "want a finite number > 0"}
		case !finite(x.Weight):
			return &FileError{path + ".weight", "is not finite"}
		case !finite(x.WeightSD) || x.WeightSD < 0:
			return &FileError{path + ".weight_sd", "want a finite number ≥ 0"}
		}
		seen[x.Name] = true
	}
	return nil
}
