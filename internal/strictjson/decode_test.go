package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

// colour is a type with a text.
type colour uint8

func (c colour) MarshalText() ([]byte, error) { return []byte{'c', '0' + byte(c)}, nil }

func (c *colour) UnmarshalText(b []byte) error {
	if len(b) != 2 || b[0] != 'c' || b[1] < '0' || b[1] > '9' {
		return fmt.Errorf("no colour %q", b)
	}
	*c = colour(b[1] - '0')
	return nil
}

// Pair is embedded, and stands in lists.
type Pair struct {
	A int    `json:"a"`
	B string `json:"b"`
}

// document has a field of each kind.
type document struct {
	Pair
	Inner  Pair             `json:"inner"`
	X      float64          `json:"x"`
	On     bool             `json:"on"`
	Small  uint32           `json:"small"`
	Raw    []byte           `json:"raw"`
	Colour colour           `json:"colour"`
	Map    map[colour]*Pair `json:"map" most:"3"`
	List   []Pair           `json:"list"`
	Many   []colour         `json:"many"`
	Matrix [][]float64      `json:"matrix" most:"3"`
	None   *Pair            `json:"none"`
	When   time.Time        `json:"when,omitzero"`
	Maybe  []string         `json:"maybe,omitempty"`
	Bare   int
	Hidden int `json:"-"`
}

const valid = `{"Bare":3,"a":1,"b":"x","inner":{"a":-2,"b":"é\n\"<\ud83d\ude00"},"x":-1.5e-3,"on":true,"small":4294967295,"raw":"AQID",` +
	`"colour":"c3","map":{"c1":{"a":1,"b":""},"c2":null},"list":[{"a":1,"b":"y"},{"a":2,"b":"z"}],"many":["c5","c6"],"matrix":[[1,2],[],[3]],` +
	`"none":null,"when":"2026-11-20T12:00:00Z","maybe":["p"]}`

func TestDecodeAgreesWithEncodingJSON(t *testing.T) {
	for _, text := range []string{valid, strings.NewReplacer(`,"maybe":["p"]`, "", `,"when":"2026-11-20T12:00:00Z"`, "", ":", " : ", ",", "\n,\t").Replace(valid)} {
		var got, want document
		if err := Decode([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	long := strings.Repeat("a", maxText)
	for name, c := range map[string]struct{ old, new, path, says string }{
		"no JSON":                  {`{`, `[`, "", "invalid character"},
		"more behind the end":      {`["p"]}`, `["p"]} {}`, "", "after top-level value"},
		"cut off":                  {`["p"]}`, ``, "", "unexpected end"},
		"no UTF-8":                 {`"b":"x"`, "\"b\":\"\xff\"", "", "UTF-8"},
		"an unknown member":        {`"a":1`, `"a":1,"c":2`, "c", "unknown"},
		"a field that is none":     {`"a":1`, `"a":1,"Hidden":2`, "Hidden", "unknown"},
		"a name in other letters":  {`"on"`, `"On"`, "On", "unknown"},
		"a member twice":           {`"on":true`, `"on":true,"on":false`, "on", "twice"},
		"a member twice, escaped":  {`"on":true`, `"on":true,"\u006fn":false`, "on", "twice"},
		"a member of a map twice":  {`"c2":null`, `"c1":null`, "map.c1", "twice"},
		"a name of no such type":   {`"c2":null`, `"d2":null`, "map.d2", "colour"},
		"a missing member":         {`"on":true,`, ``, "on", "missing"},
		"a missing member inside":  {`{"a":2,"b":"z"}`, `{"a":2}`, "list[1].b", "missing"},
		"null for a number":        {`"x":-1.5e-3`, `"x":null`, "x", "null"},
		"null for an element":      {`{"a":2,"b":"z"}`, `null`, "list[1]", "null"},
		"a text for a number":      {`[1,2]`, `[1,"2"]`, "matrix[0][1]", "string"},
		"a number for a text":      {`"b":"x"`, `"b":7`, "b", "number 7"},
		"a fraction for a whole":   {`"a":-2`, `"a":1.5`, "inner.a", "number 1.5"},
		"a number that is too big": {`-1.5e-3`, `1e999`, "x", "1e999"},
		"a negative uint":          {`4294967295`, `-1`, "small", "-1"},
		"beyond 32 bits":           {`4294967295`, `4294967296`, "small", "4294967296"},
		"a text for a bool":        {`true`, `"true"`, "on", "string"},
		"an object for a list":     {`[{"a":1,"b":"y"}`, `{"a":[{"a":1,"b":"y"}`, "", ""},
		"a list for an object":     {`{"a":-2`, `[{"a":-2`, "", ""},
		"an object for a text":     {`"b":"x"`, `"b":{}`, "b", "object"},
		"an array for base64":      {`"AQID"`, `[1]`, "raw", "array"},
		"no base64":                {`"AQID"`, `"A"`, "raw", "base64"},
		"no time":                  {`2026-11-20T`, `2026-31-20T`, "when", "month"},
		"a number for a type":      {`"c3"`, `3`, "colour", "number 3"},
		"no such text of a type":   {`"c3"`, `"red"`, "colour", "red"},
		"a map that is too long":   {`"c2":null`, `"c2":null,"c4":null,"c5":null`, "map", "3 elements"},
		"a list that is too long":  {`[3]]`, `[3],[4]]`, "matrix", "3 elements"},
		"a list in it":             {`[3]]`, `[3,4,5,6]]`, "matrix[2]", "3 elements"},
		"a text that is too long":  {`"b":"x"`, `"b":"` + long + `"`, "b", "bytes"},
		"a name that is too long":  {`"a":1`, `"a":1,"` + long + `":1`, "", "bytes"},
		"a number that is too":     {`"a":1`, `"a":1` + strings.Repeat("0", maxText), "a", "bytes"},
		"another type in whole":    {valid, `7`, "", "object"},
	} {
		text := strings.Replace(valid, c.old, c.new, 1)
		var e *Error
		switch err := Decode([]byte(text), new(document)); {
		case !errors.As(err, &e):
			t.Errorf("%s: got %v, want an Error", name, err)
		case e.Path != c.path || !strings.Contains(err.Error(), c.says):
			t.Errorf("%s: got %v, want %q at %q", name, err, c.says, c.path)
		}
	}
}

func TestMember(t *testing.T) {
	for text, want := range map[string]string{
		`{"x":{"format":"no"},"format":"a","format":"b"}`: "a",
		` { "format" : "\u0061" } `:                       "a",
		`{"format":7}`:                                    "",
		`{}`:                                              "",
		`["format","a"]`:                                  "",
	} {
		doc, err := Parse([]byte(text))
		if got := doc.Member("format"); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
}

// TestDecodeCostsInProportion decodes files of a megabyte that hold as many
// values as fit.
func TestDecodeCostsInProportion(t *testing.T) {
	fill := func(begin, unit, end string) string {
		return begin + strings.Repeat(unit, (cost.Size-len(begin)-len(end))/len(unit)) + end
	}
	for name, text := range map[string]string{
		"numbers for structs":    fill(`{"list":[`, `0,`, `0]}`),
		"empty structs":          fill(`{"list":[`, `{},`, `{}]}`),
		"structs and a fault":    fill(`{"list":[{"a":1,"b":""},`, `0,`, `0]}`),
		"structs":                fill(`{"list":[`, `{"a":1,"b":""},`, `{"a":1,"b":""}]}`),
		"lists in a list":        fill(`{"matrix":[`, `[],`, `[]]}`),
		"numbers":                fill(`{"matrix":[[`, `0,`, `0]]}`),
		"names":                  fill(`{`, `"":0,`, `"a":0}`),
		"names of a map":         fill(`{"map":{`, `"c1":null,`, `"c1":null}}`),
		"depth":                  fill(``, `[`, ``),
		"escapes":                fill(`{"b":"`, `\u0041`, `"}`),
		"a long name":            fill(`{"`, `a`, `":1}`),
		"base64":                 fill(`{"raw":"`, `AAAA`, `"}`),
		"base64 with an escape":  fill(`{"raw":"\u0041AAA`, `AAAA`, `"}`),
		"base64 of escapes":      fill(`{"raw":"`, `\u0041\u0041\u0041\u0041`, `"}`),
		"a long number":          fill(`{"a":`, `1`, `}`),
		"what is no UTF-8":       fill(`{"b":"`, "\xff", `"}`),
		"an unknown deep member": fill(`{"c":`+strings.Repeat(`[`, 9000), `0,`, `0`+strings.Repeat(`]`, 9000)+`}`),
		"spaces":                 fill(`{`, ` `, `}`),
	} {
		t.Run(name, func(t *testing.T) {
			cost.Check(t, len(text), func() {
				var d document
				_ = Decode([]byte(text), &d)
			})
		})
	}
}

// FuzzDecode says that what is taken encoding/json takes too, and makes the
// same of it.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(valid))
	f.Add([]byte(`{"matrix":[[0,0],[1]],"list":[0,0]}`))
	f.Add([]byte(`{"a":1,"b":"\u0061\\","inner":{},"map":{"c1":null,"c1":{}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var got, want document
		var err error
		cost.Check(t, len(b), func() { got = document{}; err = Decode(b, &got) })
		if err != nil {
			return
		}
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		if err := d.Decode(&want); err != nil {
			t.Fatalf("encoding/json: %v", err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if math.IsInf(got.X, 0) || math.IsNaN(got.X) {
			t.Errorf("got %v, want a finite number", got.X)
		}
	})
}
