package train

import (
	"cmp"
	"math"
	"slices"

	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/manifest"
	"github.com/voicescreen/voicescreen/models/learn"
)

const (
	// falseAlarms is the share of the recordings of people that a calibrated
	// probability of one half or more may call synthetic, each source counting
	// once, half of them through a random channel. It is what users ask for. Equal
	// errors have about a fifth, with a calibration for even odds a third.
	falseAlarms = 0.1
	// calibrationFolds and calibrationParts are the folds of sources and parts of
	// decoders of the cells whose scores calibrate. They are more than those of the
	// inner cells that choose a recipe, so that a model of a cell has nearly as many
	// rows as the one that it calibrates: with fewer rows all scores are lower.
	calibrationFolds, calibrationParts = 5, 3
)

// A calibration makes of a score the logit a·score + b.
type calibration struct{ a, b float64 }

func (c calibration) of(score float64) float64 { return c.a*score + c.b }

// calibrated is the calibration of a model of the rows of index, on held-out scores
// of those rows by two kinds of cells: decoders that the cell has not heard, and
// systems of decoders that it has. Both occur in use, and which one a recording is
// of is not known.
func (n *nest) calibrated(b *bench, index []int) (calibration, error) {
	unknown := n.crossed(b, n.subset(index, calibrationFolds, calibrationParts), true, 2)
	return n.joint(slices.Concat(unknown, n.crossed(b, n.knownCells(index, calibrationFolds), true, 2))).cautious()
}

// knownCells are cells over some of the rows that hold out source, system and
// speaker but no decoder, see [manifest.Folds].
func (n *nest) knownCells(index []int, folds int) []manifest.Cell {
	return n.usable(n.cellsOf(index, func(rows []manifest.Row) (cells []manifest.Cell) {
		for _, f := range manifest.Folds(rows, folds, n.opts.Seed) {
			cells = append(cells, manifest.Cell{Fold: f})
		}
		return cells
	}))
}

// A heldOut is what a calibration is fitted to: held-out scores with their classes.
type heldOut struct {
	score, weight []float64
	positive      []bool
}

// platt is Platt's calibration.
func (h *heldOut) platt() (calibration, error) {
	a, b, err := learn.Platt(h.score, h.positive, h.weight)
	return calibration{a, b}, err
}

// cautious is Platt's calibration, with the logits lowered until at most falseAlarms
// of the recordings of people have 0 or more. Logits that are low enough by
// themselves stay, and so do those of scores that do not rank synthetic recordings
// higher.
func (h *heldOut) cautious() (calibration, error) {
	c, err := h.platt()
	if most := h.alarmScore(); err == nil && c.a > 0 && c.of(most) >= 0 {
		c.b = math.Nextafter(-c.a*most, math.Inf(-1))
	}
	return c, err
}

// alarmScore is the lowest score such that the recordings of people above it weigh
// at most falseAlarms of all of them.
func (h *heldOut) alarmScore() float64 {
	var order []int
	var total, above float64
	for i, positive := range h.positive {
		if !positive {
			order = append(order, i)
			total += h.weight[i]
		}
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(h.score[j], h.score[i]) })
	for _, i := range order {
		if above += h.weight[i]; above > falseAlarms*total {
			return h.score[i]
		}
	}
	return math.Inf(-1) // there are no negatives
}

// joint joins lists of held-out scores. In each both classes weigh the same, and
// each source counts once within its class.
func (n *nest) joint(lists []scoredRows) *heldOut {
	h := &heldOut{}
	for _, list := range lists {
		y, w, _ := n.pick(list.index)
		h.score, h.weight, h.positive = append(h.score, list.score...), append(h.weight, balanced(y, w)...), append(h.positive, y...)
	}
	return h
}

// final is what the calibration of the model of all rows is fitted to: the held-out
// scores of the outer cells, and those of systems of decoders that the model has
// heard.
func (n *nest) final() *heldOut {
	b := n.benches(n.chosen + 1)[n.chosen]
	b.prepare(n.workers())
	known := n.crossed(b, n.knownCells(stats.Indices(len(n.train)), calibrationFolds), true, 2)
	return n.joint(append(known, n.scored(func(h held) float64 { return h.raw }), n.scored(func(h held) float64 { return h.rawHeard })))
}
