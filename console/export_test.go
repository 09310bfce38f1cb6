package console

import "strings"

// A Path is one path of the console, for tests.
type Path struct {
	Method, Path string
	Scope        string // "" for none
	Open         bool   // whether nobody needs to be signed in
	Action       string // in the audit log
}

// Paths returns all paths, without the static files.
func Paths() (all []Path) {
	for _, r := range routes() {
		p := Path{Method: r.method, Path: r.path, Open: r.open, Action: r.action}
		if r.scope != 0 {
			p.Scope = r.scope.String()
		}
		all = append(all, p)
	}
	return all
}

// PageNames returns the names of all pages.
func PageNames() (all []string) {
	for name := range pages() {
		all = append(all, name)
	}
	return all
}

// Phrase translates what package report says.
var Phrase = phrase

// Isolate writes an identifier within a sentence.
var Isolate = isolate

// Phrases notes which phrases of the file a translation of a text uses.
func Phrases(code, text string, used map[string]bool) {
	for key := range phrases()[code] {
		if pattern := number.ReplaceAllString(text, "#"); pattern == key || strings.Contains(pattern, key) {
			used[key] = true
		}
	}
}
