package webhook

import (
	"fmt"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

// TestFilesCostInProportion reads files of a megabyte that hold as many values
// as fit, and one of nothing but endpoints.
func TestFilesCostInProportion(t *testing.T) {
	const (
		begin, end = `{"format":"voicescreen-webhooks/1","endpoints":[`, `]}`
		record     = `{"account":"%s","url":"https://x.com/","created_at":"2026-01-02T03:04:05Z","secrets":[%s]}`
		key        = `{"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}`
	)
	fill := func(begin, unit, end string) string {
		return begin + strings.Repeat(unit, (cost.Size-len(begin)-len(end))/len(unit)) + end
	}
	empty, secrets := fmt.Sprintf(record, "", ""), strings.Split(fmt.Sprintf(record, "a", "%"), "%")
	var endpoints []string
	for i := range cost.Size / 200 {
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
			cost.Check(t, len(c.text), func() {
				s, err := parse([]byte(c.text))
				if (err == nil) != c.ok || c.ok && len(s.records) != len(endpoints) {
					t.Errorf("got error %v, read is to be %v", err, c.ok)
				}
			})
		})
	}
}
