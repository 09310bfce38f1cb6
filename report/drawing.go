package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
)

// A drawing collects the elements of an SVG picture.
type drawing struct {
	b             strings.Builder
	width, height float64
}

// newDrawing begins a picture of a size in points, with a title and a description for
// who does not see it. The name, unique on a page, ties them to the picture.
func newDrawing(name string, width, height float64, title, description string) *drawing {
	d := &drawing{width: width, height: height}
	d.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" role="img" aria-labelledby="%s-title %s-text">`, number(width), number(height), name, name)
	d.add(`<title id="%s-title">%s</title><desc id="%s-text">%s</desc>`, name, html.EscapeString(title), name, html.EscapeString(description))
	return d
}

// add appends an element. Arguments that are text must be escaped.
func (d *drawing) add(format string, args ...any) {
	fmt.Fprintf(&d.b, format, args...)
	d.b.WriteByte('\n')
}

// number writes a coordinate with the tenth of a point, which is what a printer shows.
func number(v float64) string {
	text := fmt.Sprintf("%.1f", v)
	return strings.TrimSuffix(text, ".0")
}

func (d *drawing) rect(class string, x, y, w, h float64) {
	d.add(`<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`, class, number(x), number(y), number(max(w, 0)), number(h))
}

func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	d.add(`<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, class, number(x1), number(y1), number(x2), number(y2))
}

// text writes a label; anchor is "start", "middle" or "end".
func (d *drawing) text(anchor string, x, y float64, label string) {
	d.add(`<text text-anchor="%s" x="%s" y="%s">%s</text>`, anchor, number(x), number(y), html.EscapeString(label))
}

// finish ends the picture.
func (d *drawing) finish() template.HTML {
	d.add(`</svg>`)
	return template.HTML(d.b.String())
}

// step returns the distance of about n marks on an axis of a length: 1, 2 or 5 times a
// power of ten.
func step(length float64, n int) float64 {
	raw := length / float64(n)
	ten := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, k := range []float64{1, 2, 5} {
		if k*ten >= raw {
			return k * ten
		}
	}
	return 10 * ten
}
