package fit

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/spoof"
	"github.com/voicescreen/voicescreen/lab/augment"
	"github.com/voicescreen/voicescreen/lab/evaluate"
)

// every says which of the training clips the metadata test takes. With 1 the
// figures are those of the model card.
var every = flag.Int("every", 12, "take every so many `clips` in TestMetadataInFeatures")

// A heard clip is its features and what they should not tell.
type heard struct {
	Row
	rate    int
	seconds float64

	channel []float64 // features through one random channel
	plain   []float64 // the same clip brought to 16 kHz first, through another channel
}

// hear extracts the features of every so many training clips.
func hear(t *testing.T) []heard {
	dir, rows := sharedRows(t)
	rows = slices.DeleteFunc(rows, func(r Row) bool { return r.Use != "train" })
	clips := make([]heard, 0, len(rows))
	for i := 0; i < len(rows); i += *every {
		clips = append(clips, heard{Row: rows[i]})
	}
	var wg sync.WaitGroup
	jobs := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range jobs {
				if err := clips[i].extract(dir, uint64(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range clips {
		jobs <- i
	}
	close(jobs)
	wg.Wait()
	return clips
}

func (h *heard) extract(dir string, seed uint64) error {
	f, err := os.Open(filepath.Join(dir, h.Path))
	if err != nil {
		return err
	}
	defer f.Close()
	a, err := wav.Decode(f, nil)
	if err != nil {
		return err
	}
	const low = 16000
	h.rate, h.seconds = a.SampleRate, float64(len(a.Samples))/float64(a.SampleRate)
	y := augment.Channel(a.Samples, a.SampleRate, rand.New(rand.NewPCG(1, seed)))
	h.channel = spoof.NewExtractor().Extract(nil, y, a.SampleRate).Values
	if h.rate > low {
		y = augment.Channel(dsp.NewResampler(h.rate, low).Resample(nil, a.Samples), low, rand.New(rand.NewPCG(2, seed)))
		h.plain = spoof.NewExtractor().Extract(nil, y, low).Values
	}
	return nil
}

// told is the AUC of a logistic regression that tells truth from the features
// of clips of other sources, systems and speakers, among clips of one label:
// what the label itself tells of the truth is not counted.
func told(t *testing.T, rows []Row, values [][]float64, truth []bool) float64 {
	vectors := make([]features.Vector, len(rows))
	label := make([]string, len(rows))
	for i, f := range values {
		vectors[i] = features.Vector{Schema: spoof.Schema(), Values: f}
		label[i] = rows[i].Label
	}
	scores := make([]float64, len(rows))
	var tested []int
	for _, fold := range Folds(rows, numFolds, 0) {
		m := &predictor{design: newDesign(spoof.Schema(), vectors, clip)}
		var x [][]float64
		var y []bool
		for _, i := range fold.Train {
			x, y = append(x, m.row(vectors[i])), append(y, truth[i])
		}
		var err error
		if m.linear, err = Logistic(x, y, nil, penalty); err != nil {
			continue // one class: the few sources of a small share
		}
		for _, i := range fold.Test {
			scores[i] = m.score(vectors[i : i+1])
		}
		tested = append(tested, fold.Test...)
	}
	var s []float64
	var y []bool
	var g []string
	for _, i := range tested {
		s, y, g = append(s, scores[i]), append(y, truth[i]), append(g, label[i])
	}
	return evaluate.WithinAUC(s, y, g)
}

// TestMetadataInFeatures measures how well the features of clips through
// random channels tell what they should not: the rate of the file and the
// duration. Over all clips of November 2026, and on spoof/2,
//
//	go test ./models/fit -run TestMetadataInFeatures -v -every 1
//
// printed 0.620, 0.586 and 0.672. The features of a clip and of the same clip
// brought to 16 kHz are the same without the channels: what tells the rate is
// that a lower one is coded otherwise, and between clips which corpora have
// which rate. The bounds leave room for the default share, whose standard error
// is 0.06: they find a measure that gives the rate away, and hold no figure.
func TestMetadataInFeatures(t *testing.T) {
	t.Parallel()
	clips := hear(t)
	if t.Failed() {
		return
	}
	var rows, pairs []Row
	var features, twice [][]float64
	var high, long, native []bool
	for _, c := range clips {
		rows, features = append(rows, c.Row), append(features, c.channel)
		high, long = append(high, c.rate > 16000), append(long, c.seconds > 3.5)
		if c.plain != nil {
			pairs, twice = append(pairs, c.Row, c.Row), append(twice, c.channel, c.plain)
			native = append(native, true, false)
		}
	}
	for _, c := range []struct {
		name    string
		rows    []Row
		vectors [][]float64
		truth   []bool
		most    float64
	}{
		{"a rate above 16 kHz, between clips", rows, features, high, 0.8},
		{"a rate above 16 kHz, or the same clip at 16 kHz", pairs, twice, native, 0.7},
		{"a duration above 3.5 s, between clips", rows, features, long, 0.8},
	} {
		auc := told(t, c.rows, c.vectors, c.truth)
		t.Logf("%s: AUC %.3f over %d", c.name, auc, len(c.rows))
		if !(auc <= c.most) {
			t.Errorf("%s: the features tell it with AUC %.3f, want at most %v", c.name, auc, c.most)
		}
	}
}
