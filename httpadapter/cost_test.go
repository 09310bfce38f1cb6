package httpadapter

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/cost"
)

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

// Key files of a megabyte: one of keys is read, and those that hold as many other
// values as fit are refused.
func TestLongKeyFiles(t *testing.T) {
	const size = 1 << 20
	const begin, end = `{"format":"voicescreen-keys/1","keys":[`, `]}`
	fill := func(begin, unit, end string) string {
		return begin + strings.Repeat(unit, (size-len(begin)-len(end))/len(unit)) + end
	}
	short := `{"id":"","account":"","scopes":[],"created_at":"2026-01-02T03:04:05Z","sha256":""}`
	var keys []string
	for i := range size / 300 {
		keys = append(keys, fmt.Sprintf(`{"id":"%016x","account":"a","scopes":["read"],"created_at":"2026-01-02T03:04:05Z","sha256":"%064x"}`, i, i))
	}
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"keys":           {begin + strings.Join(keys, ",") + end, true},
		"null":           {fill(begin, `null,`, `null`+end), false},
		"numbers":        {fill(begin, `0,`, `0`+end), false},
		"empty records":  {fill(begin, `{},`, `{}`+end), false},
		"short records":  {fill(begin, short+`,`, short+end), false},
		"scopes":         {fill(begin+strings.TrimSuffix(short, `],"created_at":"2026-01-02T03:04:05Z","sha256":""}`), `"read",`, `"read"`+short[strings.Index(short, `]`):]+end), false},
		"unknown fields": {fill(`{`, `"":0,`, `"a":0}`), false},
		"depth":          {fill(begin, `[`, ``), false},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := parseKeyFile([]byte(c.text))
			if (err == nil) != c.ok || c.ok && len(set) != len(keys) {
				t.Errorf("got %d keys, error %v, read is to be %v", len(set), err, c.ok)
			}
		})
	}
}
