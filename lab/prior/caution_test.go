package prior

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// every says which of the speakers that nothing was chosen on are heard.
var every = flag.Int("every", 10, "hear every so many `speakers` in TestCautionsOnSpeakersNotUsed; 1 takes a minute")

// Speakers on whom nothing was chosen are seldom taken for something else than
// one person speaking. Some entries of the column speaker stand for several
// people after all.
func TestCautionsOnSpeakersNotUsed(t *testing.T) {
	t.Parallel()
	const mostUnfamiliar, mostSeveral = 0.05, 0.12 // shares
	manifest, decode := sharedSpeech(t)
	b, err := models.NewBayes(priorFile(t, Depression()))
	if err != nil {
		t.Fatal(err)
	}
	rng, analyzer := rand.New(rand.NewPCG(1, 1)), dsp.NewAnalyzer()
	var n, unfamiliar, several float64
	for i, v := range Voices(manifest.Rows, "validate") {
		if i%*every != 0 {
			continue
		}
		x, err := v.Speech(decode, rng)
		if err != nil {
			t.Fatal(err)
		}
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
	if n < 30/float64(*every) || unfamiliar > mostUnfamiliar*n || several > mostSeveral*n {
		t.Errorf("of %v speakers %v are unlike the norms, %v sound like several", n, unfamiliar, several)
	}
}
