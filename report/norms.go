package report

import (
	"fmt"
	"html/template"
	"math"

	"github.com/voicescreen/voicescreen/screen"
)

// reach is how far the scale of a comparison goes, in standard deviations; what is
// beyond stands at its end.
const reach = 3.0

// A Place says where a speaker is beside the norms in one measure.
type Place struct {
	Words     string        // such as "pauses vary more than usual"
	Deviation float64       // standard deviations above what is usual
	Picture   template.HTML // the deviation on a scale
}

// Places compares a speaker with what is usual to the models of the scores, in each
// measure that has words and whose deviation is known: that of a score's largest
// contribution first, each once.
func Places(scores ...*screen.Score) (all []Place) {
	seen := map[string]bool{}
	for _, s := range scores {
		for _, c := range s.Contributions {
			w, ok := wordsFor(c.Feature)
			dev := float64(c.Deviation)
			if !ok || seen[w.lead+w.more] || dev == 0 || math.IsNaN(dev) {
				continue
			}
			seen[w.lead+w.more] = true
			p := Place{Words: InWords(c), Deviation: dev}
			p.Picture = place(fmt.Sprintf("place-%d", len(all)), p)
			all = append(all, p)
		}
	}
	return all
}

// place draws a deviation. The middle is where two of three people are.
func place(name string, p Place) template.HTML {
	const width, height = 220.0, 20.0
	side := "above"
	if p.Deviation < 0 {
		side = "below"
	}
	beyond := ""
	if math.Abs(p.Deviation) >= reach {
		beyond = " or more"
	}
	d := newDrawing(name, width, height, p.Words, fmt.Sprintf("%.1f%s standard deviations %s what is usual.", math.Abs(p.Deviation), beyond, side))
	x := func(v float64) float64 { return 10 + (width-20)*(min(max(v, -reach), reach)+reach)/(2*reach) }
	d.line("axis", x(-reach), height/2, x(reach), height/2)
	d.rect("usual", x(-1), height/2-5, x(1)-x(-1), 10)
	d.line("bound", x(0), 2, x(0), height-2)
	d.add(`<circle class="score" cx="%s" cy="%s" r="5"/>`, number(x(p.Deviation)), number(height/2))
	return d.finish()
}
