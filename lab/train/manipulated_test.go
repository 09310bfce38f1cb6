package train

import (
	"math"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/spoof"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/manifest"
	"github.com/voicescreen/voicescreen/models/learn"
)

// The predictor of a manipulation is fitted to people and to the voices made of them in
// that way, with equal weights of both. It does not score the decoder that these imitate.
func TestManipulatedExamples(t *testing.T) {
	rows := testRows(8)
	tr := &trainer{train: rows, schema: spoof.Schema(), vectors: make([][][]features.Vector, 8), manipulated: make([][]madeSpoof, 8)}
	people := 0
	for i, r := range rows {
		tr.vectors[i] = [][]features.Vector{oneSegment(), oneSegment(), oneSegment()}
		if !r.Positive {
			people++
			if i > 0 { // the first is too short
				tr.manipulated[i] = []madeSpoof{{oneSegment(), "psola"}, {oneSegment(), "resampled pitch"}, {oneSegment(), "joined tempo"}}
			}
		}
	}
	m := &predictor{Design: &Design{}}
	periods := manipulations[1]
	x, y, w := tr.manipulatedExamples(m, stats.Indices(8), periods)
	if want := 3*people + 2*(people-1); len(x) != want {
		t.Fatalf("got %d examples, want %d: three copies of each person and two of the three voices of all but one", len(x), want)
	}
	var class [2]float64
	for i := range y {
		class[stats.Indicator(y[i])] += w[i]
	}
	if math.Abs(class[0]-class[1]) > 1e-12 {
		t.Errorf("got classes of weight %v, want equal ones", class)
	}
	m.others = []other{{}}
	tr.train = []manifest.Row{{}, {Positive: true, System: "MelGAN"}, {Positive: true, System: exampleOf[manipulatedDecoder]}}
	for i, want := range []bool{true, true, false} {
		if got := tr.toScore(m, i).others != nil; got != want {
			t.Errorf("row %d: scored by the further predictors: got %v, want %v", i, got, want)
		}
	}
	tr.train = rows
	if x, _, _ := tr.manipulatedExamples(m, []int{0}, periods); len(x) > 0 {
		t.Errorf("no voices: got %d examples, want none", len(x))
	}
	if got, want := dsp.Logistic(periods.rarely(&learn.Coefficients{}).Intercept), manipulatedShare; math.Abs(got-want) > 1e-12 {
		t.Errorf("a voice as likely manipulated as not: got the probability %v, want %v", got, want)
	}
}

// Of each recording of a person ten manipulated voices are made, half of them through a
// channel; of a short one none.
func TestManipulationsOfARecording(t *testing.T) {
	r, x, rate := readerOfAVoice(t)
	voices := r.manipulationsOf(x, rate, 0)
	if len(voices) != 10 {
		t.Fatalf("got %d voices, want 10", len(voices))
	}
	for _, v := range voices {
		if got := imitated[v.method]; len(got) != 1 || got[0] != manipulatedDecoder {
			t.Errorf("method %q imitates %q, want %q", v.method, got, manipulatedDecoder)
		}
	}
	for _, v := range voices {
		kinds := 0
		for _, m := range manipulations {
			kinds += stats.Indicator(slices.Contains(m.methods, v.method))
		}
		if kinds != 1 {
			t.Errorf("method %q is of %d kinds of manipulation, want one", v.method, kinds)
		}
	}
	if voices := r.manipulationsOf(x[:1000], rate, 0); voices != nil {
		t.Errorf("0.1 s: got %d voices, want none", len(voices))
	}
}
