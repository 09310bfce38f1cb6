package durable

import (
	"strings"
	"testing"
)

func TestDecodeJSON(t *testing.T) {
	type file struct {
		Name string   `json:"name"`
		List []string `json:"list"`
	}
	for text, want := range map[string]string{
		`{"name":"a","list":["b"]}`:         "a b",
		"\n{\"name\":\"a\"}\n\t ":           "a ",
		`{"name":"a","name":"b"}`:           "b ",
		`{"name":"a","other":1}`:            "error",
		`{"name":1}`:                        "error",
		`{"name":"a"}{}`:                    "error",
		`{"name":"a"} x`:                    "error",
		`{"name":"a"`:                       "error",
		``:                                  "error",
		`[` + strings.Repeat("[", 20_000):   "error",
		`{"list":` + strings.Repeat("[", 9): "error",
	} {
		var f file
		err := DecodeJSON([]byte(text), &f)
		got := f.Name + " " + strings.Join(f.List, ",")
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%.40s: got %q and error %v, want %q", text, got, err, want)
		}
	}
}
