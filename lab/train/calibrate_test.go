package train

import (
	"math/rand/v2"
	"testing"

	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/manifest"
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
func (h *heldOut) alarms(c calibration) float64 {
	logit := make([]float64, len(h.score))
	for i, s := range h.score {
		logit[i] = c.of(s)
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
	if c.a != plain.a {
		t.Errorf("got the slope %v, want that of Platt, %v", c.a, plain.a)
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

// The cells of known decoders hold out source, speaker and system of what they test,
// and train on its decoder.
func TestKnownCellsRecurInDecoderOnly(t *testing.T) {
	n := newNest(nestedTrainer(func(*manifest.Row, []float64, *rand.Rand) {}))
	for i := range n.train { // of two systems one decoder
		if r := &n.train[i]; r.Positive {
			r.System = []string{"WaveGlow", "MelGAN", "WORLD-vocoder", "TTS:Tacotron2+HiFi-GAN-V1", "HiFi-GAN-V1"}[i/6%5]
		}
	}
	var index []int // some of the rows
	for i := range n.train {
		if i%3 != 0 {
			index = append(index, i)
		}
	}
	cells := n.knownCells(index, 20)
	if len(cells) == 0 {
		t.Fatal("got no cells")
	}
	recur := 0
	for _, c := range cells {
		for _, i := range c.Test {
			if i%3 == 0 {
				t.Fatalf("tests row %d, which is not among the given ones", i)
			}
			for _, j := range c.Train {
				a, b := &n.train[i], &n.train[j]
				if a.Source == b.Source || a.Speaker == b.Speaker || a.Positive && a.System == b.System {
					t.Fatalf("tests %+v and trains on %+v", a, b)
				}
				if a.Positive && b.Positive && a.Family() == b.Family() {
					recur++
				}
			}
		}
	}
	if recur == 0 {
		t.Error("no decoder is on both sides of a cell")
	}
}
