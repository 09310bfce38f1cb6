package prior

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// every says which of the speakers that nothing was chosen on are heard.
var every = flag.Int("every", 10, "hear every so many `speakers` in TestCautionsOnSpeakersNotUsed; 1 takes a minute")

// cautions are those of the depression model about a recording at dsp.SampleRate.
// ok is false for what is not running speech.
func cautions(t *testing.T, b *models.Bayes, analyzer *dsp.Analyzer, x []float64) (list []screen.Caution, ok bool) {
	t.Helper()
	a := analyzer.Analyze(x)
	in := &features.Recording{Analysis: a, Features: features.Extract(a)}
	if !isSpeech(in.Features) {
		return nil, false
	}
	s, err := b.Score(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return s[0].Cautions, true
}

// The recordings of the repository, on which nothing was chosen, are taken for one
// person speaking. So are most of the speakers of the shared speech on whom
// nothing was chosen; some entries of its column speaker stand for several people
// after all.
func TestCautionsOnSpeakersNotUsed(t *testing.T) {
	t.Parallel()
	const mostUnfamiliar, mostSeveral = 0.05, 0.12 // shares
	b, err := models.NewBayes(priorFile(t, Depression()))
	if err != nil {
		t.Fatal(err)
	}
	analyzer := dsp.NewAnalyzer()
	for _, path := range recordings(t) {
		list, ok := cautions(t, b, analyzer, speechOf(t, path))
		if !ok || slices.Contains(list, screen.Unfamiliar) || slices.Contains(list, screen.SeveralVoices) {
			t.Errorf("%s: got cautions %v of speech %v, want one familiar voice", path, list, ok)
		}
	}
	manifest, decode, ok := sharedSpeech(t)
	if !ok {
		return
	}
	rng := rand.New(rand.NewPCG(1, 1))
	var n, unfamiliar, several float64
	for i, v := range Voices(manifest.Rows, "validate") {
		if i%*every != 0 {
			continue
		}
		h, err := v.hear(decode, analyzer)
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			continue
		}
		x := assemble(h.pieces(), drawSpeaker(screen.FreeSpeech, i%2, rng), 40, rng)
		list, ok := cautions(t, b, analyzer, x)
		if !ok {
			continue
		}
		n++
		unfamiliar += float64(stats.Indicator(slices.Contains(list, screen.Unfamiliar)))
		several += float64(stats.Indicator(slices.Contains(list, screen.SeveralVoices)))
	}
	t.Logf("of %v speakers %v are unlike the norms, %v sound like several", n, unfamiliar, several)
	if n < 30/float64(*every) || unfamiliar > mostUnfamiliar*n || several > mostSeveral*n {
		t.Errorf("of %v speakers %v are unlike the norms, %v sound like several", n, unfamiliar, several)
	}
}
