package webhook

import (
	"fmt"
	"strings"
	"testing"
)

// Files of a megabyte: one of endpoints is read, and those that hold as many
// other values as fit are refused.
func TestLongFiles(t *testing.T) {
	const (
		size       = 1 << 20
		begin, end = `{"format":"voicescreen-webhooks/1","endpoints":[`, `]}`
		record     = `{"account":"%s","url":"https://x.com/","created_at":"2026-01-02T03:04:05Z","secrets":[%s]}`
		key        = `{"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}`
	)
	fill := func(begin, unit, end string) string {
		return begin + strings.Repeat(unit, (size-len(begin)-len(end))/len(unit)) + end
	}
	empty, secrets := fmt.Sprintf(record, "", ""), strings.Split(fmt.Sprintf(record, "a", "%"), "%")
	var endpoints []string
	for i := range size / 200 {
		endpoints = append(endpoints, fmt.Sprintf(record, fmt.Sprint(i), key))
	}
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"endpoints":     {begin + strings.Join(endpoints, ",") + end, true},
		"null":          {fill(begin, `null,`, `null`+end), false},
		"empty records": {fill(begin, `{},`, `{}`+end), false},
		"short records": {fill(begin, empty+`,`, empty+end), false},
		"secrets":       {fill(begin+secrets[0], key+`,`, key+secrets[1]+end), false},
		"null secrets":  {fill(begin+secrets[0], `null,`, `null`+secrets[1]+end), false},
		"names":         {fill(`{`, `"":0,`, `"a":0}`), false},
		"a long url":    {fill(begin+`{"account":"","url":"https://`, `a`, `","created_at":"2026-01-02T03:04:05Z","secrets":[`+key+`]}`+end), false},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := parse([]byte(c.text))
			if (err == nil) != c.ok || c.ok && len(s.records) != len(endpoints) {
				t.Errorf("got error %v, read is to be %v", err, c.ok)
			}
		})
	}
}
