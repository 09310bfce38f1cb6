package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// setting is one member of a configuration file.
type setting struct {
	name   string
	values []string
	list   bool // whether the file has a list
	line   int  // of the name, from 1 on
}

// settingsReader reads the members of a JSON object with their lines.
type settingsReader struct {
	data []byte
	dec  *json.Decoder
}

// parseSettings parses a configuration file, which is described at Configurable. The
// error names the line.
func parseSettings(data []byte) ([]setting, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // some editors write a byte order mark
	if !utf8.Valid(data) {
		return nil, errors.New("is not UTF-8 text")
	}
	r := &settingsReader{data, json.NewDecoder(bytes.NewReader(data))}
	r.dec.UseNumber()
	switch t, err := r.dec.Token(); {
	case err == io.EOF:
		return nil, errors.New("is empty, want a JSON object")
	case err != nil:
		return nil, r.fault(err)
	case t != json.Delim('{'):
		return nil, fmt.Errorf("line %d: want a JSON object, {\"FLAG\": VALUE, …}", r.line())
	}
	var settings []setting
	lines := map[string]int{} // of names
	for r.dec.More() {
		name, err := r.dec.Token()
		if err != nil {
			return nil, r.fault(err)
		}
		s := setting{name: name.(string), line: r.line()} // the decoder takes no other name
		if first, ok := lines[s.name]; ok {
			return nil, fmt.Errorf("line %d: %q stands in line %d already", s.line, s.name, first)
		}
		lines[s.name] = s.line
		if err := r.value(&s); err != nil {
			return nil, err
		}
		settings = append(settings, s)
	}
	if _, err := r.dec.Token(); err != nil { // the end of the object
		return nil, r.fault(err)
	}
	if _, err := r.dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("line %d: there is something after the object", r.line())
	}
	return settings, nil
}

// value reads the value of a setting.
func (r *settingsReader) value(s *setting) error {
	t, err := r.dec.Token()
	if err != nil {
		return r.fault(err)
	}
	if t != json.Delim('[') {
		return r.scalar(s, t)
	}
	s.list = true
	for r.dec.More() {
		if t, err = r.dec.Token(); err != nil {
			return r.fault(err)
		}
		if err := r.scalar(s, t); err != nil {
			return err
		}
	}
	if _, err := r.dec.Token(); err != nil {
		return r.fault(err)
	}
	return nil
}

// scalar adds a token to the values of a setting.
func (r *settingsReader) scalar(s *setting, t json.Token) error {
	switch v := t.(type) {
	case string:
		s.values = append(s.values, v)
	case json.Number:
		s.values = append(s.values, v.String())
	case bool:
		s.values = append(s.values, strconv.FormatBool(v))
	default:
		return fmt.Errorf("line %d: the value of %q is not text, a number, true, false or a list of these", r.line(), s.name)
	}
	return nil
}

// line is the line of the token that was read last.
func (r *settingsReader) line() int { return r.lineAt(r.dec.InputOffset()) }

func (r *settingsReader) lineAt(offset int64) int {
	return 1 + bytes.Count(r.data[:min(offset, int64(len(r.data)))], []byte("\n"))
}

// fault adds its line to an error of the decoder.
func (r *settingsReader) fault(err error) error {
	var syntax *json.SyntaxError
	switch {
	case err == io.EOF, err == io.ErrUnexpectedEOF:
		return fmt.Errorf("line %d: the file ends within the object", r.lineAt(int64(len(r.data))))
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: %w", r.lineAt(max(syntax.Offset, r.dec.InputOffset())), err)
	}
	return fmt.Errorf("line %d: %w", r.line(), err)
}
