package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// example is a request of a call and its answer.
type example struct {
	Request string // a command line of curl, or for a webhook the body
	Status  string // of the answer
	Answer  string // its body, "" without one
	later   int    // 1 if the request is not that with the first content type
}

// Examples returns an example for each answer that is not an error and has one. The
// bodies are the examples of the schemas in the document. A call without an example
// is an error, unless it is a webhook, whose receiver answers as it likes.
func (d *apiDocument) Examples(o *apiOperation) ([]example, error) {
	var list []example
	for _, r := range o.Responses {
		if r.Name[0] != '2' {
			continue
		}
		e := example{Status: r.Name}
		if r.Value.Request != "" {
			e.later = 1
		}
		for _, c := range r.Value.Content {
			body := d.schemaExample(c.Value.Schema)
			if body == nil {
				return nil, fmt.Errorf("docspage: %s: answer %s has no example", o.ID, r.Name)
			}
			e.Answer = readable(body)
		}
		var err error
		if e.Request, err = d.request(o, r.Value.Request); err != nil {
			return nil, fmt.Errorf("docspage: %s: %w", o.ID, err)
		}
		list = append(list, e)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("docspage: %s: there is no answer but errors", o.ID)
	}
	slices.SortStableFunc(list, func(a, b example) int { return cmp.Compare(a.later, b.later) })
	return list, nil
}

// schemaExample returns the first example of a schema: its own or that of the first
// of its parts that has one, nil without one.
func (d *apiDocument) schemaExample(s *apiSchema) json.RawMessage {
	if s == nil {
		return nil
	}
	if name := s.RefName(); name != "" {
		return d.schemaExample(d.schema(name))
	}
	if len(s.Examples) > 0 {
		return s.Examples[0]
	}
	if item := d.schemaExample(s.Items); item != nil {
		return slices.Concat(json.RawMessage("["), item, json.RawMessage("]"))
	}
	for _, part := range s.AnyOf {
		if e := d.schemaExample(part); e != nil {
			return e
		}
	}
	return nil
}

// SchemaExample returns the example of a schema for people, "" without one.
func (d *apiDocument) SchemaExample(s *apiSchema) string {
	if e := d.schemaExample(s); e != nil {
		return readable(e)
	}
	return ""
}

// schema returns a schema of the document by its name, nil if there is none.
func (d *apiDocument) schema(name string) *apiSchema {
	for _, s := range d.Components.Schemas {
		if s.Name == name {
			return s.Value
		}
	}
	return nil
}

// request returns the request of an example with a body of the content type, or of
// the first type with an example if that is "".
func (d *apiDocument) request(o *apiOperation, contentType string) (string, error) {
	var body json.RawMessage
	if o.RequestBody != nil {
		for _, c := range o.RequestBody.Content {
			if e := d.schemaExample(c.Value.Schema); e != nil && (contentType == "" || contentType == c.Name) {
				contentType, body = c.Name, e
				break
			}
		}
		if body == nil {
			return "", fmt.Errorf("the request has no example")
		}
	}
	if o.Hook {
		return readable(body), nil
	}
	words := []string{"curl"}
	if o.Method != "GET" && o.Method != "POST" {
		words = append(words, "-X "+o.Method)
	}
	path := o.Path
	if o.NeedsKey() {
		words = append(words, `-H "X-API-Key: $KEY"`)
		path = "/v2" + path
	}
	fields, err := requestFields(contentType, body)
	if err != nil {
		return "", err
	}
	words = append(words, fields...)
	for _, p := range o.Parameters {
		if p.In != "path" {
			continue
		}
		if p.Example == "" {
			return "", fmt.Errorf("parameter %s has no example", p.Name)
		}
		path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(p.Example))
	}
	return strings.Join(append(words, "$BASE"+path), " "), nil
}

// requestFields returns the words of curl for a body.
func requestFields(contentType string, body json.RawMessage) ([]string, error) {
	switch {
	case body == nil:
		return nil, nil
	case bytes.ContainsRune(body, '\''):
		return nil, fmt.Errorf("the example holds a quote: %s", body)
	case contentType == "application/json":
		var b bytes.Buffer
		if err := json.Compact(&b, body); err != nil {
			return nil, err
		}
		return []string{`-H "Content-Type: application/json"`, "-d '" + b.String() + "'"}, nil
	case contentType == "multipart/form-data":
		var parts ordered[string]
		if err := json.Unmarshal(body, &parts); err != nil {
			return nil, err
		}
		var words []string
		for _, p := range parts {
			words = append(words, "-F "+p.Name+"="+p.Value)
		}
		return words, nil
	}
	return nil, fmt.Errorf("there is no form of an example for %s", contentType)
}

// readable returns a JSON value for people: a text as it is, anything else with
// indentation.
func readable(body json.RawMessage) string {
	var text string
	if json.Unmarshal(body, &text) == nil {
		return text
	}
	var b bytes.Buffer
	if err := json.Indent(&b, body, "", "  "); err != nil {
		return string(body) // cannot be: it was a part of the document
	}
	return b.String()
}
