package console

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// embeddedWords are the texts that come with the console.
//
//go:embed words/*.json
var embeddedWords embed.FS

// languageCookie returns the name of the cookie that keeps the language that a person
// chose. It is about the device and says nothing else.
func languageCookie(r *http.Request) string {
	if secure(r) {
		return "__Secure-voicescreen-language"
	}
	return "voicescreen-language"
}

// fallback is the language of a text that another language lacks.
const fallback = "en"

// words are the texts of one language, by name.
type words struct {
	code  string
	texts map[string]string
	or    *words // where a text is missing; nil for the fallback
}

// text returns the text of a name, with args in the places of its verbs. A name without
// a text is returned itself.
func (w *words) text(name string, args ...any) string {
	text, ok := w.texts[name]
	switch {
	case !ok && w.or != nil:
		return w.or.text(name, args...)
	case !ok:
		return name
	case len(args) > 0:
		return fmt.Sprintf(text, args...)
	}
	return text
}

// A dictionary holds the texts of all languages. It is immutable.
type dictionary struct {
	byCode  map[string]*words
	codes   []string // sorted
	offered []string // of matcher, the fallback first
	matcher language.Matcher
}

// newDictionary reads the embedded texts, and those of the operator over them.
func newDictionary(own fs.FS) (*dictionary, error) {
	d := &dictionary{byCode: map[string]*words{}}
	embedded, err := fs.Sub(embeddedWords, "words")
	if err != nil {
		return nil, fmt.Errorf("console: embedded words: %w", err)
	}
	if err := d.read(embedded); err != nil {
		return nil, err
	}
	if own != nil {
		if err := d.read(own); err != nil {
			return nil, err
		}
	}
	for code, w := range d.byCode {
		d.codes = append(d.codes, code)
		if code != fallback {
			w.or = d.byCode[fallback]
		}
	}
	slices.Sort(d.codes)
	return d, d.offer()
}

// offer makes the matcher of the languages.
func (d *dictionary) offer() error {
	d.offered = append([]string{fallback}, slices.DeleteFunc(slices.Clone(d.codes), func(code string) bool { return code == fallback })...)
	var tags []language.Tag
	for _, code := range d.offered {
		tag, err := language.Parse(code)
		if err != nil {
			return fmt.Errorf("console: words: %s.json: the name is no language, such as de or pt-BR: %w", code, err)
		}
		tags = append(tags, tag)
	}
	d.matcher = language.NewMatcher(tags)
	return nil
}

// read adds the texts of each file *.json of a directory.
func (d *dictionary) read(from fs.FS) error {
	files, err := fs.ReadDir(from, ".")
	if err != nil {
		return fmt.Errorf("console: words: %w", err)
	}
	n := 0
	for _, f := range files {
		code, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok {
			continue
		}
		n++
		text, err := fs.ReadFile(from, f.Name())
		if err != nil {
			return fmt.Errorf("console: words: %w", err)
		}
		var texts map[string]string
		if err := json.Unmarshal(text, &texts); err != nil {
			return fmt.Errorf("console: words of %s: %w", f.Name(), err)
		}
		if err := d.add(code, texts); err != nil {
			return fmt.Errorf("console: words of %s: %w", f.Name(), err)
		}
	}
	if n == 0 {
		return errors.New("console: words: there is no file such as en.json")
	}
	return nil
}

// verbs finds the verbs of a text, which stand for numbers and names.
var verbs = regexp.MustCompile(`%[.0-9]*[a-z]`)

// add adds texts to a language. Each must have the verbs of the English one, which there
// must be: another text is a mistake of its writer.
func (d *dictionary) add(code string, texts map[string]string) error {
	known := d.byCode[fallback]
	w := d.byCode[code]
	if w == nil {
		w = &words{code: code, texts: map[string]string{}}
		d.byCode[code] = w
	}
	for name, text := range texts {
		if known != nil {
			english, ok := known.texts[name]
			if !ok {
				return fmt.Errorf("there is no text %q", name)
			}
			if got, want := verbs.FindAllString(text, -1), verbs.FindAllString(english, -1); !slices.Equal(got, want) {
				return fmt.Errorf("the text %q has the places %v, want %v", name, got, want)
			}
		}
		w.texts[name] = text
	}
	return nil
}

// of returns the words of a request: of the language that the person chose, or else of the
// one that suits best what the browser prefers (RFC 4647).
func (d *dictionary) of(r *http.Request) *words {
	if c, err := r.Cookie(languageCookie(r)); err == nil && d.byCode[c.Value] != nil {
		return d.byCode[c.Value]
	}
	_, i := language.MatchStrings(d.matcher, r.Header.Get("Accept-Language"))
	return d.byCode[d.offered[i]]
}

// setLanguage keeps the language that the person chose, and goes to the page that they
// came from if it can be shown again.
func (v *visit) setLanguage() error {
	if err := v.form(); err != nil {
		return err
	}
	code := v.r.PostForm.Get("language")
	if v.dictionary.byCode[code] == nil {
		return fault{http.StatusUnprocessableEntity, "error.invalid"}
	}
	http.SetCookie(v.w, &http.Cookie{Name: languageCookie(v.r), Value: code, Path: v.opts.Prefix + "/", HttpOnly: true, Secure: secure(v.r),
		SameSite: http.SameSiteStrictMode, MaxAge: 365 * 24 * 3600})
	return v.redirect(returnPath(v.r.PostForm.Get("return")))
}

// returnPath returns a path of the console that a form named, "" for anything else.
func returnPath(text string) string {
	for _, r := range text {
		if r != '/' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return ""
		}
	}
	if strings.Contains(text, "//") {
		return ""
	}
	return text
}
