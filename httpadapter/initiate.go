package httpadapter

import (
	"errors"
	"net/http"
	"strings"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

// problem is the fault of a parameter; "" for a valid one.
type problem = voicescreen.Problem

const (
	unprovided = voicescreen.Unprovided
	malformed  = voicescreen.Malformed
)

// metadataError is the body of status 422 of initiate.
type metadataError struct {
	Error   string             `json:"error"`
	Context map[string]problem `json:"context"`
}

// initiate opens a session. It answers 422 with all parameters that are missing
// or malformed, then 406 without consent, then 201.
func (a *adapter) initiate(c *call) error {
	body, err := c.fieldBody()
	if err != nil {
		return unreadable(err)
	}
	f, err := c.limits.parseFields(c.r.Header.Get("Content-Type"), body)
	req, problems := parseInitiate(f, c.limits.Depth)
	if err != nil {
		problems["body"] = malformed
	}
	var invalid *voicescreen.InvalidError
	if err := req.Validate(); errors.As(err, &invalid) {
		for name, p := range invalid.Fields {
			if problems[name] == "" {
				problems[name] = p
			}
		}
	} else if err != nil {
		return err
	}
	if len(problems) > 0 {
		return refuseFields(problems)
	}
	id, err := c.account.Initiate(c.r.Context(), req)
	if err != nil {
		return err
	}
	c.session = id
	return c.json(http.StatusCreated, struct {
		SessionID string `json:"session_id"`
	}{id})
}

// refuseFields returns the answer 422 of initiate.
func refuseFields(problems map[string]problem) *answer {
	return &answer{status: http.StatusUnprocessableEntity, body: metadataError{"unsupported_metadata_spec", problems}}
}

// unreadable gives status 422, for a body that could not be read to its end, the
// body that initiate has for this status.
func unreadable(err error) error {
	var a *answer
	if errors.As(err, &a) && a.status == http.StatusUnprocessableEntity {
		return refuseFields(map[string]problem{"body": malformed})
	}
	return err
}

// parseInitiate reads the parameters of a session, and returns the problem of each
// parameter that has one. Unknown names are ignored, except under metadata: there
// a mistyped name would lose data without notice. JSON in a field may nest at
// most maxDepth deep.
func parseInitiate(f fields, maxDepth int) (voicescreen.InitiateRequest, map[string]problem) {
	var req voicescreen.InitiateRequest
	problems := map[string]problem{}
	f = flatten(f, maxDepth, problems)
	user, p := f.text("user_id")
	if p != "" {
		problems["user_id"] = p
	}
	req.UserID = user
	v, given, ok := f.one("is_initiated")
	consent, isBool := toBool(v)
	switch {
	case !given || v == "":
		problems["is_initiated"] = unprovided
	case !ok || !isBool:
		problems["is_initiated"] = malformed
	}
	req.Consent = consent
	for name := range f {
		key, ok := strings.CutPrefix(name, "metadata.")
		if !ok {
			continue
		}
		set, known := metadataSetters[key]
		v, given, ok := f.one(name)
		if !known || given && !(ok && set(&req.Metadata, v)) {
			problems[name] = malformed
		}
	}
	return req, problems
}

// flatten renames the parameters to one spelling: is-initiated to is_initiated,
// and the members of a nested metadata object and metadata[age] to dotted names.
// Any other name of a parameter with brackets is malformed: its value would get
// lost.
func flatten(f fields, maxDepth int, problems map[string]problem) fields {
	flat := fields{}
	for name, values := range f {
		name, ok := unbracket(name)
		if !ok {
			problems[name] = malformed
			continue
		}
		switch name {
		case "is-initiated":
			name = "is_initiated"
		case "metadata":
			for _, v := range values {
				nested, ok := metadataObject(v, maxDepth)
				if !ok {
					problems[name] = malformed
				}
				for key, values := range nested {
					key = "metadata." + key
					flat[key] = append(flat[key], values...)
				}
			}
			continue
		}
		flat[name] = append(flat[name], values...)
	}
	return flat
}

// unbracket returns metadata.age for metadata[age], and every name without brackets
// as it is. ok is false for any other name of a parameter with brackets.
func unbracket(name string) (dotted string, ok bool) {
	parameter, rest, found := strings.Cut(name, "[")
	switch {
	case !found:
		return name, true
	case parameter == "user_id", parameter == "is_initiated", parameter == "is-initiated":
		return name, false
	case parameter != "metadata":
		return name, true // an unknown field
	}
	member, closed := strings.CutSuffix(rest, "]")
	if !closed || member == "" || strings.ContainsAny(member, "[]") {
		return name, false
	}
	return "metadata." + member, true
}

// metadataObject reads the metadata parameter itself: a JSON object, or the
// text of one in a form.
func metadataObject(v any, maxDepth int) (fields, bool) {
	switch v := v.(type) {
	case fields:
		return v, true
	case string:
		if !strings.HasPrefix(v, "{") {
			return nil, false
		}
		nested, err := parseJSON([]byte(v), maxDepth)
		return nested, err == nil
	}
	return nil, false
}

// metadataSetters set the metadata of a name and return whether the value is
// valid. The engine checks bounds; 0 and "", which mean an absent value there,
// are refused here.
var metadataSetters = map[string]func(m *screen.Metadata, v any) bool{
	"age":    func(m *screen.Metadata, v any) bool { return setPositive(&m.Age, v) },
	"weight": func(m *screen.Metadata, v any) bool { return setPositive(&m.Weight, v) },
	"gender": func(m *screen.Metadata, v any) bool { return setNamed(&m.Gender, screen.ParseGender, v) },
	"race":   func(m *screen.Metadata, v any) bool { return setNamed(&m.Race, screen.ParseRace, v) },
	"ethnicity": func(m *screen.Metadata, v any) bool {
		return setNamed(&m.Ethnicity, screen.ParseEthnicity, v)
	},
	"zipcode": func(m *screen.Metadata, v any) bool {
		text, ok := v.(string)
		m.Zipcode = text
		return ok && text != ""
	},
	"language": func(m *screen.Metadata, v any) bool {
		english, ok := toBool(v)
		m.English = &english
		return ok
	},
}

func setPositive(field *int, v any) bool {
	n, ok := toInt(v)
	*field = n
	return ok && n > 0
}

func setNamed[T any](field *T, parse func(string) (T, error), v any) bool {
	text, ok := v.(string)
	if !ok {
		return false
	}
	value, err := parse(text)
	*field = value
	return err == nil
}
