package webhook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const goodFile = `{"format":"voicescreen-webhooks/1","endpoints":[{"account":"a","url":"https://x.com/","created_at":"2026-01-02T03:04:05Z",` +
	`"secrets":[{"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}]}]}`

func TestFilesThatAreNotUnderstoodAreRefused(t *testing.T) {
	if _, err := parse([]byte(goodFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := parse([]byte(strings.Replace(goodFile, `x.com/"`, `10.0.0.1/","allow_private":["10.0.0.0/8"]`, 1))); err != nil {
		t.Errorf("an address in a network of its own: %v", err)
	}
	record := goodFile[strings.Index(goodFile, `{"account"`) : len(goodFile)-2]
	for name, text := range map[string]string{
		"empty":         "",
		"no JSON":       "hello",
		"null":          "null",
		"other format":  strings.Replace(goodFile, "webhooks/1", "webhooks/2", 1),
		"unknown field": strings.Replace(goodFile, `"account"`, `"more":1,"account"`, 1),
		"more behind":   goodFile + "{}",
		"cut short":     goodFile[:80],
		"no endpoints":  `{"format":"voicescreen-webhooks/1"}`,
		"no creation":   strings.Replace(goodFile, `"created_at":"2026-01-02T03:04:05Z",`, "", 1),
		"no secret":     strings.Replace(goodFile, `,"secrets":[{"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}]`, "", 1),
		"null record":   strings.Replace(goodFile, record, "null", 1),
		"twice":         strings.Replace(goodFile, record, record+","+record, 1),
		"http":          strings.Replace(goodFile, "https:", "http:", 1),
		"private":       strings.Replace(goodFile, "x.com", "10.0.0.1", 1),
		"other network": strings.Replace(goodFile, `x.com/"`, `10.0.0.1/","allow_private":["192.168.0.0/16"]`, 1),
		"no network":    strings.Replace(goodFile, `x.com/"`, `10.0.0.1/","allow_private":["10.0.0.1"]`, 1),
		"no secrets":    strings.Replace(goodFile, `{"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}`, "", 1),
		"empty secret":  strings.Replace(goodFile, `"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`, "", 1),
		"null secret":   strings.Replace(goodFile, `"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`, "null", 1),
		"short secret":  strings.Replace(goodFile, "whsec_MfKQ9r8GKYqrTwjU", "whsec_", 1),
		"account":       strings.Replace(goodFile, `"a"`, `"a\n"`, 1),
	} {
		path := filepath.Join(t.TempDir(), "webhooks.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(path)
		if err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "MfKQ") {
			t.Errorf("%s: got error %v, want one that names the file and no secret", name, err)
		}
	}
}

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

func FuzzParse(f *testing.F) {
	f.Add([]byte(goodFile))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parse(data)
		if err != nil {
			return
		}
		for account, r := range s.records {
			if r.Account != account || checkURL(r.URL, r.AllowPrivate...) != nil || len(r.Secrets) == 0 {
				t.Errorf("record %q is not valid", account)
			}
		}
		written, err := text(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse(written); err != nil {
			t.Errorf("what was read and written cannot be read: %v", err)
		}
	})
}
