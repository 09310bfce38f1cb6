package console_test

import (
	"net/http"
	"testing"

	"github.com/voicescreen/voicescreen/console"
)

func TestIsolate(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"nothing":                   {"", "\u2068\u2069"},
		"plain text":                {"patient-17", "\u2068patient-17\u2069"},
		"an override":               {"\u202elead", "\u2068\u202elead\u2069"},
		"an isolate":                {"a\u2067b\u2069c", "\u2068a\u2067b\u2069c\u2069"},
		"an isolate without an end": {"a\u2066\u2067b", "\u2068a\u2066\u2067b\u2069\u2069\u2069"},
		"an end without an isolate": {"a\u2069\u202eb", "\u2068a\u202eb\u2069"},
	} {
		if got := console.Isolate(test.text); got != test.want {
			t.Errorf("%s: got %+q, want %+q", name, got, test.want)
		}
	}
}

// TestIdentifiersDoNotTurnSentences: U+202E writes what follows from right to left.
func TestIdentifiersDoNotTurnSentences(t *testing.T) {
	const user = "\u202elead"
	s := newService(t, nil)
	s.stored(account, "a", user, s.clock.Now(), nil)
	c := s.signedIn("")
	for what, got := range map[string]answer{
		"a result":  c.get("/console/sessions/a"),
		"a history": c.get("/console/sessions/a/history"),
	} {
		got.want(t, what, http.StatusOK, "<bdi>\u202elead</bdi>")
	}
	c.post("/console/operations/erase", "user", user).want(t, "an erasure", http.StatusOK,
		"All sessions of \u2068\u202elead\u2069 are to be erased", `name="user" value="`+user+`"`)
}
