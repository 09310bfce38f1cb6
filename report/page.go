package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

// A Page shows the analysis of one recording to people: scores in sentences and on
// scales, what moved them, where the speaker lies beside the norms, the quality of the
// recording, and pictures of its signal.
type Page struct {
	Title    string                // of the page, such as the name of the file; default: "Recording"
	Made     time.Time             // is printed; default: nothing
	Analysis *voicescreen.Analysis // as Engine.Analyze returns it; required
	Signal   *Signal               // for the pictures of the signal; default: none
}

// Write writes the page: one HTML document of UTF-8 that loads nothing and runs no
// script, for the screen and for paper. It is valid XML too. The error is w's, or
// internal.
func (p *Page) Write(w io.Writer) error {
	v := view{Page: p, Title: cmp.Or(inXML(p.Title), "Recording"), Disclaimer: screen.Disclaimer, Quality: AnalysisQuality(p.Analysis).Facts(), Style: template.CSS(style)}
	if !p.Made.IsZero() {
		v.Date = p.Made.Format("2006-01-02 15:04")
	}
	for _, c := range screen.Categories() {
		v.Sections = append(v.Sections, p.section(c))
	}
	v.Places = Places(p.speech()...)
	if p.Signal != nil {
		picture, err := p.Signal.picture()
		if err != nil {
			return err
		}
		v.Picture, v.PictureText = picture, p.Signal.describe()
	}
	if err := page.Execute(w, &v); err != nil {
		return fmt.Errorf("report: write the page: %w", err)
	}
	return nil
}

// inXML returns a text with U+FFFD in place of what XML cannot hold (XML 1.0, section 2.2).
func inXML(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

//go:embed page.html
var pageText string

//go:embed page.css
var style string

var page = template.Must(template.New("page").Parse(pageText))

// A view is what the template of a page reads.
type view struct {
	*Page
	Title       string
	Date        string
	Sections    []Section
	Places      []Place
	Quality     []Fact
	Picture     template.HTML
	PictureText string
	Style       template.CSS
	Disclaimer  string
}

// section collects what the page says about a category.
func (p *Page) section(c screen.Category) Section {
	reason := "no score was asked for"
	if f := p.Analysis.Failures[c]; f != nil {
		reason = Reason(c, f, p.Analysis.SpeechSeconds)
	}
	return NewSection(c, p.score(c), reason)
}

// score returns the score of a category, nil if there is none.
func (p *Page) score(c screen.Category) *screen.Score {
	for i := range p.Analysis.Scores {
		if p.Analysis.Scores[i].Category == c {
			return &p.Analysis.Scores[i]
		}
	}
	return nil
}

// speech returns the scores whose measures describe a way of speaking.
func (p *Page) speech() (all []*screen.Score) {
	for _, c := range []screen.Category{screen.Depression, screen.Anxiety} {
		if s := p.score(c); s != nil {
			all = append(all, s)
		}
	}
	return all
}
