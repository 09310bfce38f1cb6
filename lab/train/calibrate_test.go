package train

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/manifest"
	"github.com/voicescreen/voicescreen/models"
)

// scoresOf are scores of a normal distribution in each class, the means so far apart
// as the given number of standard deviations.
func scoresOf(apart float64) *heldOut {
	rng := rand.New(rand.NewPCG(7, 7))
	h := &heldOut{}
	for i := range 400 {
		positive := i%2 == 0
		h.positive = append(h.positive, positive)
		h.score = append(h.score, rng.NormFloat64()+apart*float64(stats.Indicator(positive)))
		h.weight = append(h.weight, 0.5+rng.Float64())
	}
	return h
}

// alarms is the share of the negatives with a logit of 0 or more.
func (h *heldOut) alarms(c models.Calibration) float64 {
	logit := make([]float64, len(h.score))
	for i, s := range h.score {
		logit[i] = c.Of(s)
	}
	return shareAbove(logit, h.positive, h.weight, false)
}

func TestCautiousKeepsFalseAlarms(t *testing.T) {
	h := scoresOf(1.5)
	plain, err := h.platt()
	if err != nil {
		t.Fatal(err)
	}
	if got := h.alarms(plain); !(got > 1.5*falseAlarms) {
		t.Fatalf("Platt's calibration: got false alarms of %.3f, want a set with more than %v", got, 1.5*falseAlarms)
	}
	c, err := h.cautious()
	if err != nil {
		t.Fatal(err)
	}
	const one = 1.5 / 200 / 0.9 // the greatest share of a single recording
	if got := h.alarms(c); !(got <= falseAlarms && got > falseAlarms-one) {
		t.Errorf("got false alarms of %.4f, want at most %v and no fewer than that needs", got, falseAlarms)
	}
	if c.Half <= 0 || c.A != plain.A || c.B != plain.B {
		t.Errorf("got %+v, want Platt's %+v with a bend", c, plain)
	}
}

func TestCautiousKeepsPlatt(t *testing.T) {
	for name, apart := range map[string]float64{"low enough": 4, "ranked wrongly": -2} {
		h := scoresOf(apart)
		plain, err := h.platt()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := h.cautious(); err != nil || got != plain {
			t.Errorf("%s: got %+v and %v, want Platt's calibration %+v", name, got, err, plain)
		}
	}
}

// The calibration rests on recordings as they are and through a channel, scored by cells
// that have not heard their decoders. Other scores have other false alarms: those of known
// decoders, which the features mark here, and those as recorded alone, for a channel
// shifts the features that all decoders share.
func TestCalibrationIsOfUnknownDecodersAndChannels(t *testing.T) {
	tr := nestedTrainer(morePages, func(r *manifest.Row, v []float64, _ *rand.Rand) {
		if !r.Positive {
			return
		}
		for k := range 8 { // of more than 100
			v[10+10*len(r.Family())+k] += 2 // the names of the decoders differ in length
			v[k] += 0.8
		}
	})
	for i := range tr.train {
		for k := range 8 {
			tr.vectors[i][1][0].Values[k]++
		}
	}
	n := newNest(tr)
	b := n.bench(&recipes[0])
	index := stats.Indices(len(n.train))
	got, err := n.calibrated(b, index, nil)
	if err != nil {
		t.Fatal(err)
	}
	both := n.crossed(b, n.subset(index, calibrationFolds, calibrationParts), nil, 2)
	h, recorded := &heldOut{}, &heldOut{}
	for k, s := range both {
		y, w, _ := n.pick(s.index)
		part := &heldOut{s.score, balanced(y, w), y}
		if k == 0 {
			recorded = part
		}
		h = &heldOut{slices.Concat(h.score, part.score), slices.Concat(h.weight, part.weight), slices.Concat(h.positive, part.positive)}
	}
	want, err := h.cautious()
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := h.platt(); err != nil || plain == want {
		t.Fatalf("Platt's calibration: got %+v and %v, want a set that needs a bend", plain, err)
	}
	if other, err := recorded.cautious(); err != nil || other == want {
		t.Fatalf("as recorded: got %+v and %v, want a set whose channels matter", other, err)
	}
	if got != want {
		t.Errorf("got %+v with false alarms of %.3f, want %+v with %.3f", got, h.alarms(got), want, h.alarms(want))
	}
}
