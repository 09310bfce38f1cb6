package train

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/features"
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

// The calibration rests on recordings as they are and through each kind of channel once,
// scored by cells that have not heard their decoders. Other scores have other false alarms:
// those of known decoders, which the features mark here, and those of fewer or more copies,
// for a channel shifts the features that all decoders share.
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
	tr.copies = copies
	for i := range tr.train {
		for len(tr.vectors[i]) <= len(copies) { // each channel shifts more than the one before
			last := tr.vectors[i][len(tr.vectors[i])-1][0]
			tr.vectors[i] = append(tr.vectors[i], []features.Vector{{Schema: last.Schema, Values: slices.Clone(last.Values)}})
		}
		for copy, v := range tr.vectors[i] {
			for k := range 8 {
				v[0].Values[k] += float64(copy)
			}
		}
	}
	n := newNest(tr)
	b := n.bench(&recipes[0])
	index := stats.Indices(len(n.train))
	got, err := n.calibrated(b, index, nil)
	if err != nil {
		t.Fatal(err)
	}
	parts := n.crossed(b, n.subset(index, calibrationFolds, calibrationParts), nil, 1+len(copies))
	of := func(copies int) models.Calibration {
		h := &heldOut{}
		for _, s := range parts[:copies] {
			y, w, _ := n.pick(s.index)
			h = &heldOut{slices.Concat(h.score, s.score), slices.Concat(h.weight, balanced(y, w)), slices.Concat(h.positive, y)}
		}
		c, err := h.cautious()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	want := of(4) // as recorded, random channel, codec, Opus
	if want.Half == 0 {
		t.Fatalf("got %+v, want a set that needs a bend", want)
	}
	for _, copies := range []int{1, 2, 5} {
		if other := of(copies); other == want {
			t.Fatalf("%d copies: got %+v as of four, want a set whose channels matter", copies, other)
		}
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// What calibrates the shipped model are the scores of the cells, of as many copies.
func TestKnownScores(t *testing.T) {
	tr := nestedTrainer(fewPages, func(*manifest.Row, []float64, *rand.Rand) {})
	n := newNest(tr)
	score := func(row int, copies ...float64) held { return held{row: row, raw: heldScore{copies: copies}} }
	n.tested = []held{score(3, 1, 2), score(4, 5, 6), score(3, 7, 8)}
	h := n.known()
	if want := []float64{1, 5, 7, 2, 6, 8}; !slices.Equal(h.score, want) {
		t.Errorf("got the scores %v, want %v", h.score, want)
	}
	if want := []bool{true, false, true, true, false, true}; !slices.Equal(h.positive, want) {
		t.Errorf("got the classes %v, want %v", h.positive, want)
	}
	tr.copies = copies
	if got := n.calibrating(); got != 4 {
		t.Errorf("got %d copies that calibrate, want 4: as recorded, and three kinds of channel", got)
	}
}
