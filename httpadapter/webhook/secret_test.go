package webhook

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestSignatureOfTheSpecification signs the example of the Standard Webhooks
// specification, version 1.0.0.
func TestSignatureOfTheSpecification(t *testing.T) {
	s, err := parseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	got := s.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSecretsAreReadAsTheyAreWritten(t *testing.T) {
	a, b := newSecret(), newSecret()
	if a.text() == b.text() {
		t.Error("two secrets are the same")
	}
	back, err := parseSecret(a.text())
	if err != nil || back.text() != a.text() {
		t.Errorf("got %s and error %v, want what was written", back.text(), err)
	}
	encoded := func(n int) string { return base64.StdEncoding.EncodeToString(make([]byte, n)) }
	for _, text := range []string{"", "whsec_", encoded(32), "whsec_" + encoded(23), "whsec_" + encoded(65), "whsec_!" + encoded(32), "WHSEC_" + encoded(32)} {
		if _, err := parseSecret(text); err == nil {
			t.Errorf("%q was taken for a secret", text)
		}
	}
	for _, n := range []int{24, 64} {
		if _, err := parseSecret("whsec_" + encoded(n)); err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	s := newSecret()
	r := record{Account: "a", Secrets: []secretRecord{{Secret: s}}}
	for _, text := range []string{fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %s", s, s, s, s), fmt.Sprintf("%+v %#v", r, r)} {
		if strings.Contains(text, s.text()[len(secretPrefix):]) || strings.Contains(text, fmt.Sprint([]byte(s))) || strings.Contains(text, fmt.Sprintf("%x", []byte(s))) {
			t.Errorf("a secret was printed: %s", text)
		}
	}
}
