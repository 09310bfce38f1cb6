package httpadapter

import (
	"fmt"
	"strings"
	"testing"
)

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

func FuzzParseKeyFile(f *testing.F) {
	f.Add([]byte(`{"format":"voicescreen-keys/1","keys":[]}`))
	f.Add([]byte(`{"format":"voicescreen-keys/1","keys":[{"id":"0011223344556677","account":"a","scopes":["read"],"created_at":"2026-01-02T03:04:05Z","sha256":""}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := parseKeyFile(data)
		if err != nil {
			return
		}
		for id, r := range set {
			if r.ID != id || len(id) != 2*idBytes || !accountName.MatchString(r.Account) {
				t.Errorf("record %q is not valid", id)
			}
		}
	})
}
