package train

import (
	"cmp"
	"math"
	"slices"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/learn"
)

const (
	// falseAlarms is the share of the held-out recordings of people, all copies that
	// calibrate together, that a calibrated probability of one half or more may call
	// synthetic, each source counting once. It is what users ask for. Equal errors have
	// about a fifth, with a calibration for even odds a third.
	falseAlarms = 0.1
	// calibrationFolds and calibrationParts are the folds of sources and parts of
	// decoders of the cells whose scores calibrate. They are more than those of the
	// inner cells that choose a recipe, so that a model of a cell has nearly as many
	// rows as the one that it calibrates: with fewer rows all scores are lower.
	calibrationFolds, calibrationParts = 5, 3
	// calibrationCopies are the copies of each row whose scores calibrate: as recorded, and
	// through each kind of channel of [copies] once. Without the codec and Opus one in ten
	// people is called synthetic through channels of other programs, and systems since 2023
	// have too low a probability; see docs/DEEPFAKE-TRIALS.md, where that was seen.
	calibrationCopies = 4
)

// calibrated is the calibration of a model of the rows of index, on held-out scores
// of those rows, of each copy that calibrates, by cells that have not heard their
// decoders, nor those that are tested.
func (n *nest) calibrated(b *bench, index []int, tested decoderSet) (models.Calibration, error) {
	return n.heldOut(n.crossed(b, n.subset(index, calibrationFolds, calibrationParts), tested, n.calibrating())...).cautious()
}

// calibrating is how many copies of each row calibrate.
func (t *trainer) calibrating() int { return min(calibrationCopies, 1+len(t.copies)) }

// known are the held-out scores that run returned.
func (n *nest) known() *heldOut {
	copies := make([]scoredRows, n.calibrating())
	for k := range copies {
		copies[k] = n.scored(func(h held) float64 { return h.raw.copies[k] })
	}
	return n.heldOut(copies...)
}

// A heldOut is what a calibration is fitted to: held-out scores with their classes.
type heldOut struct {
	score, weight []float64
	positive      []bool
}

// platt is Platt's calibration.
func (h *heldOut) platt() (models.Calibration, error) {
	a, b, err := learn.Platt(h.score, h.positive, h.weight)
	return models.Calibration{A: a, B: b}, err
}

// cautious is Platt's calibration, bent so that at most falseAlarms of the recordings of
// people have a logit of 0 or more; see [models.Calibration.Half]. Logits that are low
// enough by themselves stay, and so do those of scores that do not rank synthetic
// recordings higher.
func (h *heldOut) cautious() (models.Calibration, error) {
	c, err := h.platt()
	if most := c.Of(h.alarmScore()); err == nil && c.A > 0 && most >= 0 {
		c.Half = math.Nextafter(most, math.Inf(1))
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

// heldOut are held-out scores with both classes of the same weight, of each copy of the
// rows. Each source counts once within its class, however many cells tested it.
func (n *nest) heldOut(copies ...scoredRows) *heldOut {
	h := &heldOut{}
	for _, s := range copies {
		y, w, _ := n.pick(s.index)
		h.score, h.weight, h.positive = append(h.score, s.score...), append(h.weight, balanced(y, w)...), append(h.positive, y...)
	}
	return h
}
