package console_test

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/voicescreen/voicescreen/console"
)

// textsOf reads a file of words.
func textsOf(t *testing.T, file string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var texts map[string]string
	if err := json.Unmarshal(raw, &texts); err != nil {
		t.Fatal(err)
	}
	return texts
}

var verb = regexp.MustCompile(`%[.0-9]*[a-z%]`)

func TestLanguagesHaveTheSameTexts(t *testing.T) {
	english, german := textsOf(t, "words/en.json"), textsOf(t, "words/de.json")
	for name, text := range english {
		other, ok := german[name]
		if !ok || other == "" {
			t.Errorf("German lacks %q", name)
		}
		if got, want := verb.FindAllString(other, -1), verb.FindAllString(text, -1); !slices.Equal(got, want) {
			t.Errorf("%q has the verbs %v in German, want %v", name, got, want)
		}
	}
	for name := range german {
		if _, ok := english[name]; !ok {
			t.Errorf("English lacks %q", name)
		}
	}
}

// used are the places where templates and programs name texts.
var used = regexp.MustCompile(`\.T "([a-z0-9.-]+)"|text\("([a-z0-9.-]+)"|http\.Status[A-Za-z]+, "([a-z0-9]+\.[a-z0-9.-]+)"`)

func TestTextsThatAreUsedExist(t *testing.T) {
	texts := textsOf(t, "words/en.json")
	files, err := filepath.Glob("pages/*.html")
	if err != nil {
		t.Fatal(err)
	}
	programs, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range append(files, programs...) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range used.FindAllStringSubmatch(string(raw), -1) {
			name := m[1] + m[2] + m[3]
			n++
			if _, ok := texts[name]; !ok {
				t.Errorf("%s: no text %q", file, name)
			}
		}
	}
	if n < 50 {
		t.Errorf("got %d uses, want at least 50: the pattern does not match any more", n)
	}
}

func TestLanguageIsChosen(t *testing.T) {
	s := newService(t, nil)
	c := s.newClient()
	ask := func(accept string) string {
		r := c.request("GET", "/console/sign-in", nil)
		r.Header.Set("Accept-Language", accept)
		return c.do(r).body
	}
	for accept, want := range map[string]string{"": "en", "de-AT,de;q=0.9": "de", "fr, DE;q=0.5, en;q=0.4": "de", "fr": "en", "../../x": "en",
		"de;q=0.2, en;q=0.9": "en", "de;q=0, en;q=0.1": "en", strings.Repeat("de-AT,", 2000): "en"} {
		if body := ask(accept); !strings.Contains(body, `<html lang="`+want+`">`) {
			t.Errorf("Accept-Language %q: want %s", accept, want)
		}
	}
	if a := c.post("/console/language", "language", "de", "return", "sign-in"); a.path != "/console/sign-in" || !strings.Contains(a.body, "Anmelden") {
		t.Errorf("German was chosen: got %s, want the page to sign in, in German", a.path)
	}
	if !strings.Contains(ask("en"), "Anmelden") {
		t.Error("the choice did not last")
	}
	c.post("/console/language", "language", "xx").want(t, "an unknown language", http.StatusUnprocessableEntity)
	for _, to := range []string{"//evil.example", "https://evil.example", `\evil.example`, "/evil.example", "..", "a?b"} {
		if a := c.post("/console/language", "language", "en", "return", to); !strings.HasPrefix(a.path, "/console/") {
			t.Errorf("return to %q: got %s, want a page of the console", to, a.path)
		}
	}
}

func TestOperatorsWords(t *testing.T) {
	own := fstest.MapFS{
		"en.json":    {Data: []byte(`{"signin.title": "Welcome to <Clinic A>"}`)},
		"fr.json":    {Data: []byte(`{"language": "Français", "signin.title": "Bonjour"}`)},
		"pt-BR.json": {Data: []byte(`{"signin.title": "Olá"}`)},
	}
	s := newService(t, func(o *console.Options) { o.Words = own })
	s.newClient().get("/console/sign-in").want(t, "a replaced text", http.StatusOK, "Welcome to &lt;Clinic A&gt;", "Français")
	c := s.newClient()
	c.post("/console/language", "language", "fr", "return", "sign-in").want(t, "an added language", http.StatusOK, "Bonjour", "API key")
	for _, accept := range []string{"pt-BR", "pt", "ja, pt-PT;q=0.5"} {
		c := s.newClient()
		r := c.request("GET", "/console/sign-in", nil)
		r.Header.Set("Accept-Language", accept)
		c.do(r).want(t, accept, http.StatusOK, "Olá", `lang="pt-BR"`)
	}

	for name, text := range map[string]string{"no JSON": "{", "no text": `{"name": 1}`, "an unknown name": `{"sign.title": "x"}`, "a place too few": `{"home.account": "x"}`,
		"another place": `{"home.account": "%d"}`} {
		if _, err := console.New(s.engine, s.keys, &console.Options{Words: fstest.MapFS{"en.json": {Data: []byte(text)}}}); err == nil {
			t.Errorf("%s: got no error, want one", name)
		}
	}
	for name, from := range map[string]fs.FS{"no directory": os.DirFS(filepath.Join(t.TempDir(), "nothing")), "no file": fstest.MapFS{"readme.txt": {}},
		"a file of no language": fstest.MapFS{"portuguese of Brazil.json": {Data: []byte(`{"language": "Português"}`)}}} {
		if _, err := console.New(s.engine, s.keys, &console.Options{Words: from}); err == nil {
			t.Errorf("%s: got no error, want one", name)
		}
	}
}
