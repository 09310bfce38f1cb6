package webhook_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/httpadapter/webhook"
)

const (
	urlA = "https://a.example.com/canary"
	urlB = "https://b.example.com/canary"
)

// opened returns endpoints in a file, with a clock that stands.
func opened(t *testing.T) (*webhook.Endpoints, string, *time.Time) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "webhooks.json")
	e, err := webhook.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	webhook.SetNow(e, func() time.Time { return now })
	return e, path, &now
}

func mustSet(t *testing.T, e *webhook.Endpoints, account, url string) string {
	t.Helper()
	s, err := e.Set(account, url)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEndpointsAreKept(t *testing.T) {
	e, path, now := opened(t)
	first := mustSet(t, e, "b", urlA)
	second := mustSet(t, e, "a", urlA)
	form := regexp.MustCompile(`^whsec_[A-Za-z0-9+/]{43}=$`) // 32 bytes
	if !form.MatchString(first) || !form.MatchString(second) || first == second {
		t.Error("got secrets of another form, or twice the same")
	}
	if again := mustSet(t, e, "b", urlB); again != "" {
		t.Error("another address of the account has another secret")
	}
	other, err := webhook.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	list, err := other.List()
	want := []webhook.Endpoint{{"a", urlA, *now, time.Time{}, 1}, {"b", urlB, *now, time.Time{}, 1}}
	if err != nil || !slices.Equal(list, want) {
		t.Errorf("got %+v and error %v, want %+v", list, err, want)
	}
	if got := webhook.Secrets(other, "b"); !slices.Equal(got, []string{first}) {
		t.Error("the secret is another one")
	}
	if got := other.Accounts(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got accounts %v", got)
	}
	if err := other.Remove("a"); err != nil {
		t.Fatal(err)
	}
	if err := other.Remove("a"); !errors.Is(err, webhook.ErrNoEndpoint) {
		t.Errorf("got error %v, want %v", err, webhook.ErrNoEndpoint)
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
	if got := webhook.Secrets(e, "a"); !slices.Equal(got, []string{second, first}) {
		t.Errorf("during the exchange: got %d secrets, want the new and the old one", len(got))
	}
	*now = now.Add(time.Hour)
	if got := webhook.Secrets(e, "a"); !slices.Equal(got, []string{second}) {
		t.Errorf("after the exchange: got %d secrets, want the new one", len(got))
	}
	third, err := e.Rotate("a", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := webhook.Secrets(e, "a"); !slices.Equal(got, []string{third}) {
		t.Errorf("at once: got %d secrets, want the new one", len(got))
	}
	if _, err := e.Rotate("b", 0); !errors.Is(err, webhook.ErrNoEndpoint) {
		t.Errorf("got error %v, want %v", err, webhook.ErrNoEndpoint)
	}
	for range webhook.MaxSecrets - 1 {
		if _, err := e.Rotate("a", time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.Rotate("a", time.Hour); err == nil {
		t.Errorf("there are more than %d secrets", webhook.MaxSecrets)
	}
}

func TestAnEndpointThatIsGoneIsDisabled(t *testing.T) {
	e, path, now := opened(t)
	secret := mustSet(t, e, "a", urlA)
	if err := webhook.Disable(e, "a", urlB, *now); err != nil || len(e.Accounts()) != 1 {
		t.Errorf("an answer of a former address disabled another (%v)", err)
	}
	if err := webhook.Disable(e, "nobody", urlA, *now); err != nil {
		t.Error(err)
	}
	if err := webhook.Disable(e, "a", urlA, *now); err != nil {
		t.Fatal(err)
	}
	if e, err := webhook.Open(path); err != nil || len(e.Accounts()) != 0 || webhook.Secrets(e, "a") != nil {
		t.Errorf("a disabled endpoint is active (%v)", err)
	}
	if list, err := e.List(); err != nil || len(list) != 1 || !list[0].DisabledAt.Equal(*now) {
		t.Errorf("got %+v and error %v", list, err)
	}
	mustSet(t, e, "a", urlA)
	if got := webhook.Secrets(e, "a"); !slices.Equal(got, []string{secret}) {
		t.Error("an endpoint that was enabled has another secret")
	}
}

func TestSetRefuses(t *testing.T) {
	e := webhook.Memory()
	for account, url := range map[string]string{"a\nb": urlA, strings.Repeat("a", 256): urlA, "a\xff": urlA, "a": "http://x.com/canary", "b": "https://10.0.0.1/canary"} {
		if s, err := e.Set(account, url); err == nil || s != "" || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q, %q: got error %v, want one without the address", account, url, err)
		}
	}
	if got := e.Accounts(); len(got) > 0 {
		t.Errorf("got accounts %v, want none", got)
	}
}
