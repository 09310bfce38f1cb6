package report

import (
	"fmt"
	"html/template"
	"math"

	"github.com/voicescreen/voicescreen/screen"
)

// Scale draws a score on a scale from 0 to 100: its interval, the zone in which the
// model does not decide, and the average of the population. Nothing is said by colour
// alone. The picture carries its description for who does not see it.
func Scale(s *screen.Score) template.HTML {
	const left, width, top, bar = 12.0, 696.0, 26.0, 22.0
	d := newDrawing("scale-"+s.Category.String(), left+width+12, 78, "Scale of the "+s.Category.String()+" score", describeScale(s))
	x := func(p float64) float64 { return left + width*p }
	d.rect("panel", left, top, width, bar)
	if s.Band != (screen.Band{}) {
		d.add(`<defs><pattern id="open-%s" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="hatch" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>`, s.Category)
		d.add(`<rect class="open" fill="url(#open-%s)" x="%s" y="%s" width="%s" height="%s"/>`, s.Category,
			number(x(s.Band.Low)), number(top), number(max(x(s.Band.High)-x(s.Band.Low), 1)), number(bar))
		if s.Band != screen.Open {
			d.line("bound", x(s.Band.Low), top-4, x(s.Band.Low), top+bar+4)
			d.line("bound", x(s.Band.High), top-4, x(s.Band.High), top+bar+4)
		}
	}
	if s.Low <= s.High {
		d.rect("interval", x(s.Low), top+bar/2-4, x(s.High)-x(s.Low), 8)
	}
	if s.Prior > 0 {
		d.add(`<path class="average" d="M%s %sl-5 9h10z"/>`, number(x(s.Prior)), number(top+bar+1))
	}
	d.add(`<circle class="score" cx="%s" cy="%s" r="8"/>`, number(x(s.Probability)), number(top+bar/2))
	d.text(anchorAt(s.Probability), x(s.Probability), top-9, ofHundred(s.Probability)+" of 100")
	for i := 0; i <= 100; i += 20 {
		d.text(anchorAt(float64(i)/100), x(float64(i)/100), top+bar+26, fmt.Sprint(i))
	}
	return d.finish()
}

// anchorAt keeps a label inside the picture.
func anchorAt(p float64) string {
	switch {
	case p < 0.06:
		return "start"
	case p > 0.94:
		return "end"
	}
	return "middle"
}

func describeScale(s *screen.Score) string {
	text := "The score, a dot, is at " + ofHundred(s.Probability) + " of 100."
	if u := Uncertainty(s); u != "" {
		text += " Its interval, a bar, is " + u + "."
	}
	if s.Prior > 0 {
		text += " The average of the population, a triangle, is at " + ofHundred(s.Prior) + "."
	}
	switch {
	case s.Band == screen.Open:
		text += " The model decides nowhere: all of the scale is hatched."
	case s.Band != screen.Band{} && s.Band.Low < s.Band.High:
		text += fmt.Sprintf(" From %.1f to %.1f, hatched, the model does not decide.", 100*s.Band.Low, 100*s.Band.High)
	case s.Band != screen.Band{}:
		text += fmt.Sprintf(" From %.1f on the score is positive.", 100*s.Band.High)
	}
	return text
}

// Segments draws the scores of the segments of a recording over time; "" where there
// are fewer than two, or they take no time.
func Segments(s *screen.Score) template.HTML {
	if len(s.Segments) < 2 || !(s.Segments[len(s.Segments)-1].End > s.Segments[0].Start) {
		return ""
	}
	const left, width, top, height = 40.0, 668.0, 8.0, 90.0
	d := newDrawing("segments-"+s.Category.String(), left+width+12, top+height+28, "The score of each segment", describeSegments(s))
	begin, end := s.Segments[0].Start, s.Segments[len(s.Segments)-1].End
	x := func(t float64) float64 { return left + width*(t-begin)/(end-begin) }
	y := func(p float64) float64 { return top + height*(1-p) }
	d.rect("panel", left, top, width, height)
	for _, part := range s.Segments {
		if p := part.Probability; !math.IsNaN(p) {
			d.rect("bar", x(part.Start)+1, y(p), x(part.End)-x(part.Start)-2, height*p)
		}
	}
	d.line("bound", left, y(screen.Half), left+width, y(screen.Half))
	for _, p := range []float64{0, screen.Half, 1} {
		d.text("end", left-6, min(y(p)+5, top+height), fmt.Sprintf("%.0f", 100*p))
	}
	by := step(end-begin, 8)
	for i := 0; begin+float64(i)*by <= end; i++ {
		t := begin + float64(i)*by
		d.text(anchorAt((t-begin)/(end-begin)), x(t), top+height+18, fmt.Sprintf("%.4g s", t))
	}
	return d.finish()
}

func describeSegments(s *screen.Score) string {
	low, high := math.Inf(1), math.Inf(-1)
	above, known := 0, 0
	for _, part := range s.Segments {
		if p := part.Probability; !math.IsNaN(p) {
			low, high = min(low, p), max(high, p)
			known++
			if p >= screen.Half {
				above++
			}
		}
	}
	text := fmt.Sprintf("%d of %s", above, count(len(s.Segments), "segment is", "segments are")) + " at 50 of 100 or above."
	if known > 0 {
		text += fmt.Sprintf(" The lowest is %s, the highest %s of 100.", ofHundred(low), ofHundred(high))
	}
	if known < len(s.Segments) {
		text += " " + count(len(s.Segments)-known, "segment has", "segments have") + " no score."
	}
	return text
}
