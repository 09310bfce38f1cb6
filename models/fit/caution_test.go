package fit

import (
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// Speakers on whom nothing was chosen are seldom taken for something else than
// one person speaking. Some entries of the column speaker stand for several
// people after all.
func TestCautionsOnSpeakersNotUsed(t *testing.T) {
	t.Parallel()
	const mostUnfamiliar, mostSeveral = 0.05, 0.12 // shares
	dir, rows := sharedRows(t)
	voices := map[string][]string{}
	for _, r := range rows {
		if key := speakerOf(r); key != "" && !r.Positive && r.Use == "validate" {
			voices[key] = append(voices[key], filepath.Join(dir, r.Path))
		}
	}
	b, err := models.NewBayes(shippedDepression(t))
	if err != nil {
		t.Fatal(err)
	}
	rng, analyzer := rand.New(rand.NewPCG(1, 1)), dsp.NewAnalyzer()
	var n, unfamiliar, several float64
	for _, k := range slices.Sorted(maps.Keys(voices)) {
		x := assemble(t, voices[k], rng)
		if x == nil {
			continue
		}
		a := analyzer.Analyze(x)
		in := &features.Recording{Analysis: a, Features: features.Extract(a)}
		if !isSpeech(in.Features) {
			continue
		}
		s, err := b.Score(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		n++
		if slices.Contains(s[0].Cautions, screen.Unfamiliar) {
			unfamiliar++
		}
		if slices.Contains(s[0].Cautions, screen.SeveralVoices) {
			several++
		}
	}
	t.Logf("of %v speakers %v are unlike the norms, %v sound like several", n, unfamiliar, several)
	if n < 30 || unfamiliar > mostUnfamiliar*n || several > mostSeveral*n {
		t.Errorf("of %v speakers %v are unlike the norms, %v sound like several", n, unfamiliar, several)
	}
}
