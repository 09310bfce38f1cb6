package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

//go:embed page.html
var pageTemplate string

// render returns the page of an OpenAPI document. It needs no script and loads
// no other resource. The error names the part of the document at fault.
func render(document []byte) ([]byte, error) {
	var d apiDocument
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, fmt.Errorf("docspage: read the OpenAPI document: %w", err)
	}
	t, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return nil, fmt.Errorf("docspage: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, &d); err != nil {
		return nil, fmt.Errorf("docspage: %w", err)
	}
	return b.Bytes(), nil
}

// apiDocument is the part of an OpenAPI document that the page shows.
type apiDocument struct {
	Info struct {
		Title, Version, Summary, Description string
	}
	Tags       []struct{ Name string }
	Paths      ordered[ordered[json.RawMessage]] // by path, then method
	Webhooks   ordered[ordered[json.RawMessage]] // by kind, then method
	Components struct {
		Parameters map[string]*apiParameter
		Responses  map[string]*apiResponse
		Schemas    ordered[*apiSchema]
	}
}

// apiOperation is one call.
type apiOperation struct {
	Method, Path         string          `json:"-"`
	Hook                 bool            `json:"-"` // a webhook: the service makes the call
	Twins                []*apiOperation `json:"-"` // the same call under other paths
	ID                   string          `json:"operationId"`
	SameAs               string          `json:"x-same-as"` // the ID of the call that this is a twin of
	Tags                 []string
	Summary, Description string
	Parameters           []*apiParameter
	RequestBody          *struct {
		Description string
		Content     ordered[apiMedia]
	}
	Responses ordered[*apiResponse]
	Security  *[]any // empty: no key is needed
}

type apiParameter struct {
	Ref         string `json:"$ref"`
	Name, In    string
	Required    bool
	Description string
	Schema      *apiSchema
	Example     string
}

type apiResponse struct {
	Ref         string `json:"$ref"`
	Description string
	Content     ordered[apiMedia]
	Headers     ordered[json.RawMessage]
	Request     string `json:"x-request"` // the content type of the request of the example
}

type apiMedia struct{ Schema *apiSchema }

// apiSchema is a JSON schema, as far as the document uses it.
type apiSchema struct {
	Ref              string `json:"$ref"`
	Type             textList
	Description      string
	Enum             []any
	Examples         []json.RawMessage
	Const            any
	Pattern          string
	Minimum, Maximum *float64
	MinLength        *int
	MaxLength        *int
	MinItems         *int
	MaxItems         *int
	Items            *apiSchema
	AnyOf            []*apiSchema
	Required         []string
	Properties       ordered[*apiSchema]
}

// Operations returns the calls of a tag, of the service and then to receivers of
// webhooks, in the order of the document. The twins of a call are in it. A twin of no
// call before it is an error.
func (d *apiDocument) Operations(tag string) ([]*apiOperation, error) {
	var list []*apiOperation
	for _, path := range slices.Concat(d.Paths, d.Webhooks) {
		var common []*apiParameter // of all methods
		for _, item := range path.Value {
			if item.Name == "parameters" {
				if err := json.Unmarshal(item.Value, &common); err != nil {
					return nil, err
				}
			}
		}
		for _, item := range path.Value {
			if !slices.Contains([]string{"get", "post", "patch", "put", "delete"}, item.Name) {
				continue
			}
			o := &apiOperation{}
			if err := json.Unmarshal(item.Value, o); err != nil {
				return nil, err
			}
			if !slices.Contains(o.Tags, tag) {
				continue
			}
			o.Method, o.Path = strings.ToUpper(item.Name), path.Name
			o.Hook = !slices.ContainsFunc(d.Paths, func(p member[ordered[json.RawMessage]]) bool { return p.Name == path.Name })
			o.Parameters = append(slices.Clone(common), o.Parameters...)
			d.resolve(o)
			if o.SameAs == "" {
				list = append(list, o)
				continue
			}
			i := slices.IndexFunc(list, func(other *apiOperation) bool { return other.ID == o.SameAs })
			if i < 0 {
				return nil, fmt.Errorf("docspage: %s is the same as %s, which is not before it", o.ID, o.SameAs)
			}
			list[i].Twins = append(list[i].Twins, o)
		}
	}
	return list, nil
}

// resolve replaces references by the values that they name.
func (d *apiDocument) resolve(o *apiOperation) {
	for i, p := range o.Parameters {
		if named := d.Components.Parameters[refName(p.Ref)]; named != nil {
			o.Parameters[i] = named
		}
	}
	for i, r := range o.Responses {
		if named := d.Components.Responses[refName(r.Value.Ref)]; named != nil {
			o.Responses[i].Value = named
		}
	}
}

// refName is the last part of a reference.
func refName(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// NeedsKey returns whether the call needs an API key.
func (o *apiOperation) NeedsKey() bool { return o.Security == nil || len(*o.Security) > 0 }

// RefName returns the name of the schema that s refers to, or "".
func (s *apiSchema) RefName() string { return refName(s.Ref) }

// Needs returns whether an object must have the property.
func (s *apiSchema) Needs(name string) bool { return slices.Contains(s.Required, name) }

// Rules returns the constraints on a value, in words.
func (s *apiSchema) Rules() []string {
	var rules []string
	add := func(format string, args ...any) { rules = append(rules, fmt.Sprintf(format, args...)) }
	if s.Const != nil {
		add("always %v", s.Const)
	}
	if len(s.Enum) > 0 {
		values := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			values[i] = fmt.Sprint(v)
			if v == nil {
				values[i] = "null"
			}
		}
		add("one of %s", strings.Join(values, " | "))
	}
	if s.Pattern != "" {
		add("pattern %s", s.Pattern)
	}
	bounds(add, "", s.Minimum, s.Maximum)
	bounds(add, " characters", s.MinLength, s.MaxLength)
	bounds(add, " items", s.MinItems, s.MaxItems)
	return rules
}

// bounds adds a rule for the bounds that are not nil.
func bounds[T int | float64](add func(string, ...any), unit string, low, high *T) {
	switch {
	case low != nil && high != nil && *low == *high:
		add("%v%s", *low, unit)
	case low != nil && high != nil:
		add("%v to %v%s", *low, *high, unit)
	case low != nil:
		add("at least %v%s", *low, unit)
	case high != nil:
		add("at most %v%s", *high, unit)
	}
}

// ordered is a JSON object with its members in their order.
type ordered[T any] []member[T]

type member[T any] struct {
	Name  string
	Value T
}

// UnmarshalJSON reads a JSON object.
func (o *ordered[T]) UnmarshalJSON(b []byte) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("want an object: %w", err)
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var v T
		if err := dec.Decode(&v); err != nil {
			return err
		}
		*o = append(*o, member[T]{name.(string), v}) // the decoder takes nothing but a string here
	}
	return nil
}

// textList is one string or a list of them.
type textList []string

// UnmarshalJSON reads either form.
func (l *textList) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, (*[]string)(l))
	}
	var one string
	err := json.Unmarshal(b, &one)
	*l = textList{one}
	return err
}

// String is for the page.
func (l textList) String() string { return strings.Join(l, " or ") }
