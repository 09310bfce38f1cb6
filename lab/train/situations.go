package train

import (
	"fmt"

	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/manifest"
	"github.com/voicescreen/voicescreen/models"
)

// A situation is a kind of recordings of people.
type situation struct {
	name string
	is   func(r *manifest.Row) bool
}

// narrowBand is the bandwidth in Hz below which a recording is narrow-band, that of
// [screen.NarrowBand].
const narrowBand = 5000

// situationsOf are the situations that the columns of the rows tell apart.
// Recordings of a page with synthetic speech are made for that page, in a studio as
// a rule. Those of any other page are from elsewhere: telephone calls, words that
// wake a device, tests of speech recognition.
func situationsOf(rows []manifest.Row) []situation {
	synthetic := map[string]bool{}
	for i := range rows {
		if rows[i].Positive {
			synthetic[rows[i].Source] = true
		}
	}
	return []situation{
		{"pages with synthetic speech", func(r *manifest.Row) bool { return synthetic[r.Source] }},
		{"pages without synthetic speech", func(r *manifest.Row) bool { return !synthetic[r.Source] }},
		{"bandwidth below 5 kHz", func(r *manifest.Row) bool { return r.Bandwidth > 0 && r.Bandwidth < narrowBand }},
	}
}

// situations measures the false alarms at one half in each situation with at least
// leastOfKind recordings of people, each source counting once.
func (n *nest) situations(s scoredRows, split string) []models.Metric {
	var out []models.Metric
	for _, situation := range situationsOf(n.train) {
		part := n.part(s, func(r *manifest.Row) bool { return !r.Positive && situation.is(r) })
		if len(part.index) >= leastOfKind {
			out = append(out, n.measureBy(part, n.weight, fmt.Sprintf("%s, %s", split, situation.name), alarmFigures)...)
		}
	}
	return out
}

// lengths measures the AUC of recordings of some lengths, with at least leastOfKind
// of each class.
func (n *nest) lengths(s scoredRows) []models.Metric {
	var out []models.Metric
	bounds := []float64{0, 2, 3, 4, 1e9} // s
	for k, low := range bounds[:len(bounds)-1] {
		high := bounds[k+1]
		part := n.part(s, func(r *manifest.Row) bool { return r.Duration > 0 && low <= r.Duration && r.Duration < high })
		var class [2]int
		for _, i := range part.index {
			class[stats.Indicator(n.train[i].Positive)]++
		}
		if min(class[0], class[1]) >= leastOfKind {
			name := fmt.Sprintf("nested, %g s to below %g s", low, high)
			if k == len(bounds)-2 {
				name = fmt.Sprintf("nested, %g s and longer", low)
			}
			out = append(out, n.measureBy(part, n.weight, name, rankFigures[:1])...)
		}
	}
	return out
}

// part is those of the rows that the condition holds for.
func (n *nest) part(s scoredRows, is func(r *manifest.Row) bool) (out scoredRows) {
	for k, i := range s.index {
		if is(&n.train[i]) {
			out.add(i, s.score[k])
		}
	}
	return out
}
