package console

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"regexp"
	"strings"
	"sync"
)

// phraseFiles hold, by language, what package report says: the English text with # in the
// place of each number, and its translation with the numbers in the same order. What
// report says thus stands in one place, and a text without a translation is shown in
// English and marked as such.
//
//go:embed phrases/*.json
var phraseFiles embed.FS

// phrases returns the translations, by language, read at the first call.
var phrases = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	files, err := phraseFiles.ReadDir("phrases")
	if err != nil {
		panic(err) // embedded
	}
	for _, f := range files {
		text, err := phraseFiles.ReadFile("phrases/" + f.Name())
		if err != nil {
			panic(err) // embedded
		}
		var of map[string]string
		if err := json.Unmarshal(text, &of); err != nil {
			panic(fmt.Sprintf("console: phrases/%s: %v", f.Name(), err)) // embedded
		}
		all[strings.TrimSuffix(f.Name(), ".json")] = of
	}
	return all
})

var (
	number = regexp.MustCompile(`[0-9]+(?:\.[0-9]+)?`)
	places = regexp.MustCompile(`#`)
)

// decimalComma are the languages that write 0,5.
var decimalComma = map[string]bool{"de": true}

// phrase translates what report says: the whole text, each of its sentences, what stands
// before and after its last comma or parenthesis, such as "by far", or what follows its
// first comma, as after the name of a model. Ok is false if there is no translation.
func phrase(code, text string) (translated string, ok bool) {
	if translated, ok = whole(code, text); ok {
		return translated, true
	}
	if first, rest, more := strings.Cut(text, ". "); more {
		a, okA := whole(code, first+".")
		b, okB := phrase(code, rest)
		return a + " " + b, okA && okB
	}
	if i := strings.LastIndex(text, " ("); i >= 0 && strings.HasSuffix(text, ")") {
		a, okA := phrase(code, text[:i])
		b, okB := whole(code, text[i+2:len(text)-1])
		return a + " (" + b + ")", okA && okB
	}
	if i := strings.LastIndex(text, ", "); i >= 0 {
		a, okA := whole(code, text[:i])
		b, okB := whole(code, text[i+2:])
		if okA && okB {
			return a + ", " + b, true
		}
	}
	if first, rest, more := strings.Cut(text, ", "); more {
		b, okB := whole(code, rest)
		return first + ", " + b, okB
	}
	return "", false
}

// whole translates a text that stands in the file as it is.
func whole(code, text string) (string, bool) {
	translation, ok := phrases()[code][number.ReplaceAllString(text, "#")]
	if !ok {
		return "", false
	}
	numbers := number.FindAllString(text, -1)
	return places.ReplaceAllStringFunc(translation, func(string) string {
		n := numbers[0]
		numbers = numbers[1:]
		if decimalComma[code] {
			n = strings.Replace(n, ".", ",", 1)
		}
		return n
	}), true
}

// Report writes what package report says, in the language of the page or, marked, in
// English.
func (p *view) Report(text string) template.HTML {
	escaped := template.HTMLEscapeString(text)
	if p.Language() == fallback || text == "" {
		return template.HTML(escaped)
	}
	if translated, ok := phrase(p.Language(), text); ok {
		return template.HTML(template.HTMLEscapeString(translated))
	}
	return template.HTML(`<span lang="en">` + escaped + `</span>`)
}
