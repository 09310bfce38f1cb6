package httpadapter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// errBody is the error for a body that is neither JSON nor a form.
var errBody = errors.New("body is neither JSON nor a form")

// fields holds the parameters of a body: all values of each name, in order. The
// values of a form are strings. The values of JSON have the types of
// encoding/json, with json.Number for numbers and fields for objects; JSON null
// is a name without a value.
type fields map[string][]any

// parseFields reads a body of fields: as JSON if its first byte after spaces is
// '{', otherwise by the Content-Type, and as a form without a known Content-Type.
// It returns an error that wraps errBody if the body cannot be read.
func (l *Limits) parseFields(contentType string, body []byte) (fields, error) {
	trimmed := trim(body)
	media, params, _ := mime.ParseMediaType(contentType)
	switch {
	case len(trimmed) == 0:
		return fields{}, nil
	case isJSON(body):
		return parseJSON(trimmed, l.Depth)
	case media == "multipart/form-data":
		return parseParts(multipart.NewReader(bytes.NewReader(trimmed), params["boundary"]), l.Parts)
	}
	return parseForm(string(trimmed))
}

// isJSON returns whether parseFields reads a body as JSON.
func isJSON(body []byte) bool { return bytes.HasPrefix(trim(body), []byte("{")) }

// trim returns a body without a leading byte order mark and leading spaces.
func trim(body []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), " \t\r\n")
}

// maxValues is the maximum number of values of a JSON body. Without it a body of
// empty values takes 60 times its size when it is decoded (measured). Chosen:
// fifty times the number of values of the largest call.
const maxValues = 1024

// parseJSON reads a JSON object of at most maxValues that nests at most
// maxDepth deep.
func parseJSON(body []byte, maxDepth int) (fields, error) {
	if !utf8.Valid(body) || !surrogatesPaired(body) {
		return nil, fmt.Errorf("%w: not UTF-8", errBody)
	}
	deepest, values := shape(body)
	if deepest > maxDepth {
		return nil, fmt.Errorf("%w: nested too deep", errBody)
	}
	if values > maxValues {
		return nil, fmt.Errorf("%w: too many values", errBody)
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	f, err := decodeObject(dec)
	if err != nil {
		return nil, fmt.Errorf("%w: not valid JSON", errBody) // the decoder's text quotes the body
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: more follows the JSON object", errBody)
	}
	return f, nil
}

// decodeObject reads a JSON object. It keeps all values of a repeated name, so that
// a contradiction is found.
func decodeObject(dec *json.Decoder) (fields, error) {
	if _, err := dec.Token(); err != nil { // the opening brace
		return nil, err
	}
	f := fields{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		v, err := decodeValue(dec)
		if err != nil {
			return nil, err
		}
		f.add(name.(string), v) // the decoder takes nothing but a string here
	}
	_, err := dec.Token() // the closing brace
	return f, err
}

// decodeValue reads a JSON value. An object within an array, which no call has,
// becomes a map[string]any.
func decodeValue(dec *json.Decoder) (v any, err error) {
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return nil, err
	}
	inner := json.NewDecoder(bytes.NewReader(raw))
	inner.UseNumber()
	if raw[0] == '{' {
		return decodeObject(inner)
	}
	err = inner.Decode(&v)
	return v, err
}

// add adds a value to a name. JSON null, which is nil, adds the name without a
// value.
func (f fields) add(name string, v any) {
	values := f[name]
	if v != nil {
		values = append(values, v)
	}
	f[name] = values
}

// shape returns the greatest depth of the arrays and objects of JSON and an upper
// bound of its number of values, without decoding it.
func shape(body []byte) (deepest, values int) {
	level := 0
	values = 1
	text, escaped := false, false
	for _, c := range body {
		switch {
		case escaped:
			escaped = false
		case text:
			escaped = c == '\\'
			text = c != '"'
		case c == '"':
			text = true
		case c == '{' || c == '[':
			level++
			values++
			deepest = max(deepest, level)
		case c == '}' || c == ']':
			level--
		case c == ',':
			values++
		}
	}
	return deepest, values
}

// surrogatesPaired reports whether in JSON each escape of a surrogate, half a character, has
// its other half. The decoder replaces others by U+FFFD, which makes identifiers equal that
// are not.
func surrogatesPaired(body []byte) bool {
	half := rune(0) // a first half that is waiting for its other
	for len(body) > 0 {
		r, n := rune(0), 1
		if body[0] == '\\' {
			n = 2
			if len(body) >= 6 && body[1] == 'u' {
				code, err := strconv.ParseUint(string(body[2:6]), 16, 16)
				if err != nil {
					return true // not JSON
				}
				r, n = rune(code), 6
			}
		}
		switch {
		case half != 0 && utf16.DecodeRune(half, r) == utf8.RuneError:
			return false
		case half != 0:
			half = 0
		case utf16.IsSurrogate(r):
			half = r
		}
		body = body[min(n, len(body)):]
	}
	return half == 0
}

// parseForm reads a form as browsers write it (URL Standard,
// application/x-www-form-urlencoded): a semicolon separates nothing.
func parseForm(body string) (fields, error) {
	values, err := url.ParseQuery(strings.ReplaceAll(strings.TrimRight(body, "\r\n"), ";", "%3B"))
	if err != nil {
		return nil, fmt.Errorf("%w: not a valid form", errBody)
	}
	f := make(fields, len(values))
	for name, texts := range values {
		for _, text := range texts {
			f[name] = append(f[name], text)
		}
	}
	return f, nil
}

// parseParts reads the parts of a small multipart body, at most maxParts, as a
// form.
func parseParts(mr *multipart.Reader, maxParts int) (fields, error) {
	f := fields{}
	for n := 0; ; n++ {
		part, err := mr.NextPart()
		if err == io.EOF {
			return f, nil
		}
		if err != nil || n == maxParts {
			return nil, fmt.Errorf("%w: not a readable multipart body", errBody)
		}
		text, err := io.ReadAll(part) // the body is in memory, so this is bounded
		if err != nil {
			return nil, fmt.Errorf("%w: not a readable multipart body", errBody)
		}
		f[part.FormName()] = append(f[part.FormName()], string(text))
	}
}

// one returns the value of a field. given is false if the field has no value, and
// ok is false if it has several different values.
func (f fields) one(name string) (v any, given, ok bool) {
	values := f[name]
	if len(values) == 0 {
		return nil, false, true
	}
	for _, other := range values[1:] {
		a, okA := scalar(values[0])
		b, okB := scalar(other)
		if !okA || !okB || a != b {
			return nil, true, false
		}
	}
	return values[0], true, true
}

// scalar returns the text of a value, and false for an array or object.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// text returns the value of a field that must be a string in UTF-8. A string of
// spaces is unprovided.
func (f fields) text(name string) (string, problem) {
	v, given, ok := f.one(name)
	if !given {
		return "", unprovided
	}
	s, isText := v.(string)
	if !ok || !isText || !utf8.ValidString(s) {
		return "", malformed
	}
	if strings.TrimSpace(s) == "" {
		return "", unprovided
	}
	return s, ""
}

// toBool reads a boolean, or its text in any case.
func toBool(v any) (b, ok bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case string:
		if strings.EqualFold(v, "true") {
			return true, true
		}
		return false, strings.EqualFold(v, "false")
	}
	return false, false
}

// toInt reads an integer, or its decimal digits as text.
func toInt(v any) (n int, ok bool) {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.Atoi(v.String()); err == nil {
			return n, true
		}
		x, err := v.Float64() // 2.0 and 2e1 are integers too
		if err != nil || x != float64(int32(x)) {
			return 0, false
		}
		return int(x), true
	case string:
		digits := strings.TrimPrefix(v, "-")
		if digits == "" || slices.ContainsFunc([]byte(digits), func(c byte) bool { return c < '0' || c > '9' }) {
			return 0, false
		}
		n, err := strconv.Atoi(v)
		return n, err == nil
	}
	return 0, false
}
