package console

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/voicescreen/voicescreen/httpadapter"
)

//go:embed pages/*.html
var pageFiles embed.FS

// shared are the files of pages/ that every page uses.
var shared = []string{"layout", "parts"}

// pages returns the templates, by the name of their file. Each defines "title" and "main",
// and may define "scripts". The first call parses them: a command that shows no page needs
// neither the time nor the memory.
var pages = sync.OnceValue(func() map[string]*template.Template {
	all := map[string]*template.Template{}
	files, err := pageFiles.ReadDir("pages")
	if err != nil {
		panic(err) // embedded
	}
	base := template.New("layout")
	for _, name := range shared {
		template.Must(base.ParseFS(pageFiles, "pages/"+name+".html"))
	}
	for _, f := range files {
		name := strings.TrimSuffix(path.Base(f.Name()), ".html")
		if slices.Contains(shared, name) {
			continue
		}
		all[name] = template.Must(template.Must(base.Clone()).ParseFS(pageFiles, "pages/"+f.Name()))
	}
	return all
})

// render writes a page.
func render(w io.Writer, name string, v *view) error {
	t := pages()[name]
	if t == nil {
		return fmt.Errorf("console: no page %q", name)
	}
	if err := t.ExecuteTemplate(w, "layout", v); err != nil {
		return fmt.Errorf("console: page %s: %w", name, err)
	}
	return nil
}

// A view is what a template reads: its data, and what every page needs.
type view struct {
	visit *visit
	Page  string // the name of the template
	Data  any
}

// T returns the text of a name in the language of the request.
func (p *view) T(name string, args ...any) string { return p.visit.words.text(name, args...) }

// URL returns the address of a path of the console, whose parts are joined by slashes.
func (p *view) URL(parts ...string) string { return p.visit.url(strings.Join(parts, "/")) }

// Language is the code of the language of the request.
func (p *view) Language() string { return p.visit.words.code }

// A languageOption is a language that a person can choose.
type languageOption struct{ Code, Name string }

// Languages are those that there are.
func (p *view) Languages() (all []languageOption) {
	for _, code := range p.visit.dictionary.codes {
		all = append(all, languageOption{code, p.visit.dictionary.byCode[code].text("language")})
	}
	return all
}

// Return is the path of this page where it can be opened again after the language
// changed; "" is the first page.
func (p *view) Return() string {
	if p.visit.route.method != "GET" {
		return ""
	}
	return returnPath(strings.TrimPrefix(p.visit.r.URL.Path, p.visit.opts.Prefix+"/"))
}

// Signed is whether somebody is signed in.
func (p *view) Signed() bool { return p.visit.signed }

// SignsOut is whether the console has a way to sign out.
func (p *view) SignsOut() bool { return p.visit.browser != nil }

// Account is the name of the account.
func (p *view) Account() string { return p.visit.caller.Account }

// May says whether the caller has the scope of a name.
func (p *view) May(name string) (bool, error) {
	s, err := httpadapter.ParseScope(name)
	return p.visit.caller.Allows(s), err
}

// Session is the identifier of the session that the page is about.
func (p *view) Session() string { return p.visit.session }

// Disclaimer is the text that accompanies scores.
func (p *view) Disclaimer() string { return p.T("disclaimer") }

// Isolate writes an identifier within a sentence, so that it does not turn the text around
// it. An identifier that stands alone is in a <bdi> instead: people copy it from there.
func (p *view) Isolate(identifier string) string { return isolate(identifier) }

// Time writes a time for people, in the zone of the server.
func (p *view) Time(t time.Time) string {
	if t.IsZero() {
		return p.T("never")
	}
	return t.Local().Format("2006-01-02 15:04 MST")
}

// Percent writes a share; NaN is a dash.
func (p *view) Percent(share float64) string {
	if math.IsNaN(share) {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}
