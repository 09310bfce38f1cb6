package webhook

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	urlA = "https://a.example.com/canary"
	urlB = "https://b.example.com/canary"
)

// opened returns endpoints in a file, with a clock that stands.
func opened(t *testing.T) (*Endpoints, string, *time.Time) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "webhooks.json")
	e, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	e.now = func() time.Time { return now }
	return e, path, &now
}

func mustSet(t *testing.T, e *Endpoints, account, url string) string {
	t.Helper()
	s, err := e.Set(account, url)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// secrets returns those that sign for an account now.
func secrets(e *Endpoints, account string) (list []string) {
	if r, ok := e.active(account); ok {
		for _, s := range r.valid(e.now()) {
			list = append(list, s.text())
		}
	}
	return list
}

func TestEndpointsAreKept(t *testing.T) {
	e, path, now := opened(t)
	first := mustSet(t, e, "b", urlA)
	second := mustSet(t, e, "a", urlA)
	if _, err := parseSecret(first); err != nil || first == second {
		t.Errorf("got secrets %v and %v, want two of their own", err, first == second)
	}
	if again := mustSet(t, e, "b", urlB); again != "" {
		t.Error("another address of the account has another secret")
	}
	other, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	list, err := other.List()
	want := []Endpoint{{"a", urlA, *now, time.Time{}, 1}, {"b", urlB, *now, time.Time{}, 1}}
	if err != nil || !slices.Equal(list, want) {
		t.Errorf("got %+v and error %v, want %+v", list, err, want)
	}
	if got := secrets(other, "b"); !slices.Equal(got, []string{first}) {
		t.Error("the secret is another one")
	}
	if got := other.Accounts(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got accounts %v", got)
	}
	if err := other.Remove("a"); err != nil {
		t.Fatal(err)
	}
	if err := other.Remove("a"); !errors.Is(err, ErrNoEndpoint) {
		t.Errorf("got error %v, want %v", err, ErrNoEndpoint)
	}
	if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), second) {
		t.Errorf("the secret of a removed endpoint is kept (%v)", err)
	}
	if again := mustSet(t, other, "a", urlA); again == "" || again == second {
		t.Error("an endpoint that comes back has no new secret")
	}
}

func TestSecretsAreExchanged(t *testing.T) {
	e, _, now := opened(t)
	first := mustSet(t, e, "a", urlA)
	second, err := e.Rotate("a", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if got := secrets(e, "a"); !slices.Equal(got, []string{second, first}) {
		t.Errorf("during the exchange: got %d secrets, want the new and the old one", len(got))
	}
	*now = now.Add(time.Hour)
	if got := secrets(e, "a"); !slices.Equal(got, []string{second}) {
		t.Errorf("after the exchange: got %d secrets, want the new one", len(got))
	}
	third, err := e.Rotate("a", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := secrets(e, "a"); !slices.Equal(got, []string{third}) {
		t.Errorf("at once: got %d secrets, want the new one", len(got))
	}
	if _, err := e.Rotate("b", 0); !errors.Is(err, ErrNoEndpoint) {
		t.Errorf("got error %v, want %v", err, ErrNoEndpoint)
	}
	for range maxSecrets - 1 {
		if _, err := e.Rotate("a", time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.Rotate("a", time.Hour); err == nil {
		t.Errorf("there are more than %d secrets", maxSecrets)
	}
}

func TestAnEndpointThatIsGoneIsDisabled(t *testing.T) {
	e, path, now := opened(t)
	secret := mustSet(t, e, "a", urlA)
	if err := e.disable("a", urlB, *now); err != nil || len(e.Accounts()) != 1 {
		t.Errorf("an answer of a former address disabled another (%v)", err)
	}
	if err := e.disable("nobody", urlA, *now); err != nil {
		t.Error(err)
	}
	if err := e.disable("a", urlA, *now); err != nil {
		t.Fatal(err)
	}
	if e, err := Open(path); err != nil || len(e.Accounts()) != 0 || secrets(e, "a") != nil {
		t.Errorf("a disabled endpoint is active (%v)", err)
	}
	if list, err := e.List(); err != nil || len(list) != 1 || !list[0].DisabledAt.Equal(*now) {
		t.Errorf("got %+v and error %v", list, err)
	}
	mustSet(t, e, "a", urlA)
	if got := secrets(e, "a"); !slices.Equal(got, []string{secret}) {
		t.Error("an endpoint that was enabled has another secret")
	}
}

func TestSetRefuses(t *testing.T) {
	e := Memory()
	for account, url := range map[string]string{"a\nb": urlA, strings.Repeat("a", 256): urlA, "a\xff": urlA, "a": "http://x.com/canary", "b": "https://10.0.0.1/canary"} {
		if s, err := e.Set(account, url); err == nil || s != "" || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q, %q: got error %v, want one without the address", account, url, err)
		}
	}
	if got := e.Accounts(); len(got) > 0 {
		t.Errorf("got accounts %v, want none", got)
	}
}

const goodFile = `{"format":"voicescreen-webhooks/1","endpoints":[{"account":"a","url":"https://x.com/","created_at":"2026-01-02T03:04:05Z",` +
	`"secrets":[{"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}]}]}`

func TestFilesThatAreNotUnderstoodAreRefused(t *testing.T) {
	if _, err := parse([]byte(goodFile)); err != nil {
		t.Fatal(err)
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

func FuzzParse(f *testing.F) {
	f.Add([]byte(goodFile))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parse(data)
		if err != nil {
			return
		}
		for account, r := range s.records {
			if r.Account != account || checkURL(r.URL) != nil || len(r.Secrets) == 0 {
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
