package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"

	"github.com/voicescreen/voicescreen/screen"
)

// A Point is one recording in the history of a person.
type Point struct {
	At    time.Time     // its date is written in its own zone
	Score *screen.Score // nil where the recording has none of the category
	Label string        // of a questionnaire's total, such as "12"; "" for none
}

// History draws the scores of one category over time, each with its interval, over the
// zone in which the model of the last one does not decide. The labels stand above their
// recordings. Points may be in any order. It is "" where there is no score.
func History(c screen.Category, points []Point) template.HTML {
	points = slices.Clone(points)
	slices.SortStableFunc(points, func(a, b Point) int { return a.At.Compare(b.At) })
	last := lastScore(points)
	if last == nil {
		return ""
	}
	const left, width, top, height = 40.0, 668.0, 26.0, 150.0
	d := newDrawing("history-"+c.String(), left+width+12, top+height+26, "The "+c.String()+" scores over time", describeHistory(points))
	begin, length := points[0].At, points[len(points)-1].At.Sub(points[0].At)
	x := func(p Point) float64 {
		if length <= 0 {
			return left + width/2
		}
		return left + 10 + (width-20)*p.At.Sub(begin).Seconds()/length.Seconds()
	}
	y := func(p float64) float64 { return top + height*(1-p) }
	d.rect("panel", left, top, width, height)
	if last.Band != (screen.Band{}) {
		d.add(`<defs><pattern id="open-history-%s" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="hatch" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>`, c)
		d.add(`<rect class="open" fill="url(#open-history-%s)" x="%s" y="%s" width="%s" height="%s"/>`, c,
			number(left), number(y(last.Band.High)), number(width), number(max(y(last.Band.Low)-y(last.Band.High), 1)))
	}
	for i := 0; i <= 100; i += 25 {
		d.line("grid", left, y(float64(i)/100), left+width, y(float64(i)/100))
		d.text("end", left-6, min(y(float64(i)/100)+5, top+height), fmt.Sprint(i))
	}
	for _, p := range points {
		if p.Label != "" {
			d.text("middle", x(p), top-8, p.Label)
		}
		if p.Score == nil {
			continue
		}
		if p.Score.Low <= p.Score.High {
			d.rect("interval", x(p)-2, y(p.Score.High), 4, y(p.Score.Low)-y(p.Score.High))
		}
		d.add(`<circle class="score" cx="%s" cy="%s" r="6"/>`, number(x(p)), number(y(p.Score.Probability)))
	}
	d.text("start", left, top+height+20, begin.Format(time.DateOnly))
	if length > 0 {
		d.text("end", left+width, top+height+20, points[len(points)-1].At.Format(time.DateOnly))
	}
	return d.finish()
}

// lastScore returns the score of the last point that has one, nil where none has.
func lastScore(points []Point) (s *screen.Score) {
	for _, p := range points {
		if p.Score != nil {
			s = p.Score
		}
	}
	return s
}

// describeHistory says what History shows, of points in order of time.
func describeHistory(points []Point) string {
	low, high, scores, labels := math.Inf(1), math.Inf(-1), 0, 0
	for _, p := range points {
		if p.Label != "" {
			labels++
		}
		if p.Score != nil {
			low, high = min(low, p.Score.Probability), max(high, p.Score.Probability)
			scores++
		}
	}
	last := lastScore(points)
	if last == nil {
		return "There is no score."
	}
	text := fmt.Sprintf("%s, dots with their intervals: from %s to %s of 100, the last %s.", count(scores, "score", "scores"),
		ofHundred(low), ofHundred(high), ofHundred(last.Probability))
	if labels > 0 {
		text += fmt.Sprintf(" Above the recordings: %s.", count(labels, "total of a questionnaire", "totals of questionnaires"))
	}
	if last.Band != (screen.Band{}) {
		text += " In the hatched zone the model does not decide."
	}
	return text
}

// OfHundred writes a probability as the sentences of this package do: of 100, without
// decimals where these are not needed.
func OfHundred(p float64) string { return ofHundred(p) }
