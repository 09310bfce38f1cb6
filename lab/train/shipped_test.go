package train

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/spoof"
	"github.com/voicescreen/voicescreen/internal/proof/shared"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/manifest"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// sharedSpeech is the manifest of the shared speech, with the rows of one use.
func sharedSpeech(t *testing.T, use string) *manifest.File {
	t.Helper()
	m, err := manifest.Open(shared.File(t, "speech/manifest.csv"), screen.Deepfake)
	if err != nil {
		t.Fatal(err)
	}
	m.Rows = slices.DeleteFunc(m.Rows, func(r manifest.Row) bool { return r.Use != use })
	return m
}

// shippedScore scores a recording with the shipped deepfake model.
func shippedScore(t *testing.T, x []float64, rate int) screen.Score {
	t.Helper()
	l, err := models.LoadFile("../../models/shipped/files/deepfake.json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Score(t.Context(), &features.Recording{Native: x, NativeRate: rate})
	if err != nil {
		t.Fatal(err)
	}
	return s[0]
}

func clipOf(t *testing.T, path string) *wav.Audio {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, err := wav.Decode(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestShippedDeepfakeOnHeldOutClips scores some of the clips that the shipped
// model was not trained on. The AUC over all of them is in the model file, and
// the interval of an eighth of them is three times as wide.
func TestShippedDeepfakeOnHeldOutClips(t *testing.T) {
	t.Parallel()
	const least = 0.75
	m := sharedSpeech(t, "validate")
	rows := m.Rows
	var scores []float64
	var positive []bool
	for i := 0; i < len(rows); i += max(*every/3, 1) {
		a := clipOf(t, m.Path(rows[i].Path))
		scores = append(scores, shippedScore(t, a.Samples, a.SampleRate).Probability)
		positive = append(positive, rows[i].Positive)
	}
	if auc := stats.AUC(scores, positive); !(auc >= least) {
		t.Errorf("got AUC %.3f over %d clips, want at least %v", auc, len(scores), least)
	} else {
		t.Logf("AUC %.3f over %d clips", auc, len(scores))
	}
}

// TestShippedDeepfakeShowsWhereASpliceIs joins a real clip and a synthetic one
// of the same source and rate: in most pairs the synthetic segments score higher.
func TestShippedDeepfakeShowsWhereASpliceIs(t *testing.T) {
	const least = 0.7 // of the pairs; one in two would be chance
	m := sharedSpeech(t, "validate")
	rows := m.Rows
	real := map[string]*wav.Audio{}
	var right, pairs float64
	for _, r := range rows {
		if pairs == 6 { // chosen: a second
			break
		}
		if !r.Positive {
			real[r.Source] = clipOf(t, m.Path(r.Path))
			continue
		}
		first := real[r.Source]
		if first == nil {
			continue
		}
		delete(real, r.Source)
		second := clipOf(t, m.Path(r.Path))
		n := min(len(first.Samples), len(second.Samples))
		if first.SampleRate != second.SampleRate || 2*n <= int(spoof.SegmentSeconds)*first.SampleRate {
			continue // one segment has no place to show
		}
		s := shippedScore(t, slices.Concat(first.Samples[:n], second.Samples[:n]), first.SampleRate)
		if len(s.Segments) != 2 || math.IsNaN(s.Segments[0].Probability+s.Segments[1].Probability) {
			t.Fatalf("%s: got segments %+v, want two with scores", r.Path, s.Segments)
		}
		pairs++
		if s.Segments[1].Probability > s.Segments[0].Probability {
			right++
		}
	}
	if pairs < 5 || right < least*pairs {
		t.Errorf("the synthetic segment scores higher in %v of %v recordings, want at least %v of them", right, pairs, least)
	} else {
		t.Logf("the synthetic segment scores higher in %v of %v recordings", right, pairs)
	}
}
