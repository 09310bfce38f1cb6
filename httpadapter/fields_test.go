package httpadapter

import (
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/screen"
)

const (
	formType = "application/x-www-form-urlencoded"
	jsonType = "application/json"
)

// defaultLimits are those of a handler without options.
var defaultLimits = Limits{}.withDefaults()

// itemSetters are the setters of the feedback calls, by their number of items.
var itemSetters = map[int]setLabel{
	2: func(f *voicescreen.Feedback, v []any, form bool) (err error) {
		f.PHQ2, err = parseItems(v, 2, form)
		return err
	},
	9: func(f *voicescreen.Feedback, v []any, form bool) (err error) {
		f.PHQ9, err = parseItems(v, 9, form)
		return err
	},
	7: func(f *voicescreen.Feedback, v []any, form bool) (err error) {
		f.GAD7, err = parseItems(v, 7, form)
		return err
	},
	0: func(f *voicescreen.Feedback, v []any, _ bool) (err error) {
		f.Depression, err = parseInterview(v)
		return err
	},
}

// TestBodiesCostInProportion reads bodies of the greatest size that hold as
// many values as fit.
func TestBodiesCostInProportion(t *testing.T) {
	most := defaultLimits.Body
	part := "--x\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n"
	fill := func(begin, unit, end string) string {
		return begin + strings.Repeat(unit, (most-len(begin)-len(end))/len(unit)) + end
	}
	for name, c := range map[string]struct {
		contentType, body string
		refused           bool
	}{
		"empty arrays":   {jsonType, fill(`{"a":[`, `[],`, `[]]}`), true},
		"empty objects":  {jsonType, fill(`{"a":[`, `{},`, `{}]}`), true},
		"numbers":        {jsonType, fill(`{"a":[`, `0,`, `0]}`), true},
		"names":          {jsonType, fill(`{`, `"":0,`, `"a":0}`), true},
		"metadata":       {jsonType, fill(`{"metadata":{"a":[`, `[],`, `[]]}}`), true},
		"one long text":  {jsonType, fill(`{"a":"`, `,`, `"}`), false},
		"fields":         {formType, fill("a", "&a", ""), true},
		"no fields":      {formType, fill("a", "&", ""), true},
		"parts":          {"multipart/form-data; boundary=x", fill("", part, "--x--"), true},
		"escaped spaces": {formType, fill("a=", "%20", ""), false},
	} {
		t.Run(name, func(t *testing.T) {
			cost.Check(t, len(c.body), func() {
				f, err := defaultLimits.parseFields(c.contentType, []byte(c.body))
				if errors.Is(err, errBody) != c.refused {
					t.Errorf("got error %v, refused is to be %v", err, c.refused)
				}
				parseInitiate(f, defaultLimits.Depth)
			})
		})
	}
}

func FuzzParseFields(f *testing.F) {
	f.Add("", `{"user_id":"p1","is_initiated":true,"metadata":{"age":30}}`)
	f.Add(formType, "user_id=p1&is-initiated=true&metadata.zipcode=02139&metadata=%7B%7D")
	f.Add("multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"session_id\"\r\n\r\na\r\n--x--\r\n")
	f.Add(jsonType, `{"session_id":"a","actual_score":[1,2],"data":"[1,2]"}`)
	f.Fuzz(func(t *testing.T, contentType, body string) {
		var fields fields
		var err error
		cost.Check(t, len(contentType)+len(body), func() { fields, err = defaultLimits.parseFields(contentType, []byte(body)) })
		if err != nil && fields != nil {
			t.Error("got fields with an error")
		}
		if req, problems := parseInitiate(fields, defaultLimits.Depth); len(problems) == 0 && req.UserID == "" {
			t.Error("got a request without a user")
		}
		for n, set := range itemSetters {
			_, label, err := parseFeedback(fields, set, !isJSON([]byte(body)))
			items := append(append(label.PHQ2, label.PHQ9...), label.GAD7...)
			if err == nil && len(items) != n {
				t.Errorf("got %d items, want %d", len(items), n)
			}
			for _, item := range items {
				if item < 0 || item > 3 {
					t.Errorf("got item %d", item)
				}
			}
		}
	})
}

// FuzzMetadata sets one field of the metadata, in a form and in JSON. What is
// read is the same either way, and what is accepted can be stored.
func FuzzMetadata(f *testing.F) {
	for _, v := range [][2]string{{"age", "44"}, {"gender", "female"}, {"race", "Other"}, {"ethnicity", "x"}, {"zipcode", "02139"}, {"language", "TRUE"}, {"weight", "-0"}} {
		f.Add(v[0], v[1])
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		form := url.Values{"user_id": {"u"}, "is_initiated": {"true"}, "metadata." + name: {value}}.Encode()
		var req voicescreen.InitiateRequest
		var problems map[string]problem
		cost.Check(t, len(form), func() {
			fields, err := defaultLimits.parseFields(formType, []byte(form))
			if err != nil {
				t.Fatal(err)
			}
			req, problems = parseInitiate(fields, defaultLimits.Depth)
		})
		if text, err := json.Marshal(req.Metadata); len(problems) == 0 && req.Validate() == nil {
			var back screen.Metadata
			if err != nil || json.Unmarshal(text, &back) != nil || !reflect.DeepEqual(back, req.Metadata) {
				t.Errorf("%q %q: accepted, and written as %s with error %v", name, value, text, err)
			}
		}
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return // not possible in JSON
		}
		body, err := json.Marshal(map[string]any{"user_id": "u", "is_initiated": true, "metadata": map[string]string{name: value}})
		if err != nil {
			t.Fatal(err)
		}
		fields, err := defaultLimits.parseFields(jsonType, body)
		if err != nil {
			t.Fatal(err)
		}
		if again, others := parseInitiate(fields, defaultLimits.Depth); !reflect.DeepEqual(again, req) || !maps.Equal(others, problems) {
			t.Errorf("%q %q: got %+v and %v of JSON, want %+v and %v as of a form", name, value, again, others, req, problems)
		}
	})
}
