package fit

import (
	"encoding/json"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/models"
)

var measure = flag.Bool("norms", false, "measure norms.json anew on the shared speech; several minutes")

// priorFeatures lists the features of all shipped priors.
func priorFeatures() []string {
	var names []string
	for _, p := range []*Prior{DepressionPrior(), AnxietyPrior()} {
		for _, e := range p.Effects {
			if !slices.Contains(names, e.Feature) {
				names = append(names, e.Feature)
			}
		}
	}
	return names
}

// TestShippedNorms checks the norms, after measuring them anew if asked to.
func TestShippedNorms(t *testing.T) {
	if *measure {
		writeNorms(t)
	}
	n, err := ShippedNorms()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range priorFeatures() {
		i := n.index(name)
		if i < 0 {
			t.Errorf("no norm of %s", name)
			continue
		}
		if f := n.Features[i]; f.N < leastNorm || !(f.Scale > 0) {
			t.Errorf("%s: got %+v, want at least %d recordings and a scale", name, f, leastNorm)
		}
		for j := range n.Features {
			r := n.Correlation[i][j]
			if r != n.Correlation[j][i] || math.Abs(r) > 1 || i == j && r != 1 {
				t.Errorf("correlation of features %d and %d is %v, other way round %v", i, j, r, n.Correlation[j][i])
			}
		}
	}
}

// sharedSpeech finds the shared speech beside the repository.
func sharedSpeech(t *testing.T) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if path := filepath.Join(dir, "shared", "speech"); exists(filepath.Join(path, "manifest.csv")) {
			return path
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Skip("the shared speech is not beside the repository")
		}
		dir = up
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// leastVoice is how many seconds of a speaker a recording is put together
// from, at least, and normLength how long it is made.
const (
	leastVoice = 6
	normLength = 40
)

// writeNorms measures norms.json on the bona fide training clips. They are at
// most 4 s long, and people are to be scored on 30 s and more of free speech:
// the clips of each speaker are put in a row, over and over, with pauses of
// published length between them.
func writeNorms(t *testing.T) {
	dir := sharedSpeech(t)
	f, err := os.Open(filepath.Join(dir, "manifest.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := ReadManifest(f, models.Deepfake)
	if err != nil {
		t.Fatal(err)
	}
	voices := map[string][]string{}
	for _, r := range rows {
		if !r.Positive && r.Use == "train" {
			key := r.Source + " " + r.Speaker
			voices[key] = append(voices[key], filepath.Join(dir, r.Path))
		}
	}
	keys := make([]string, 0, len(voices))
	for k := range voices {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	rng := rand.New(rand.NewPCG(1, 1))
	analyzer := dsp.NewAnalyzer()
	var vectors []models.Vector
	for _, k := range keys {
		if x := assemble(t, voices[k], rng); x != nil {
			vectors = append(vectors, models.Extract(analyzer.Analyze(x)))
		}
	}
	n, err := MeasureNorms(vectors, priorFeatures(), models.Data{
		Data: "bona fide clips of public demonstration pages and corpora, those of one speaker put in a row to 40 s with pauses of published length " +
			"(lognormal; medians of speakers with quartiles 0.31 and 0.61 s, Larsen et al. 2024, n = 19,615); both sexes together",
		Rows: len(vectors), Licence: "facts measured on recordings of various licences",
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(n, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	normsJSON = append(b, '\n')
	if err := os.WriteFile("norms.json", normsJSON, 0o644); err != nil {
		t.Fatal(err)
	}
}

// assemble puts the clips in a row, nil if they are too short altogether.
func assemble(t *testing.T, paths []string, rng *rand.Rand) []float64 {
	var clips [][]float64
	var total int
	for _, p := range paths {
		f, err := os.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		a, err := wav.Decode(f, nil)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		x := dsp.NewResampler(a.SampleRate, dsp.SampleRate).Resample(nil, a.Samples)
		clips = append(clips, x)
		total += len(x)
	}
	if total < leastVoice*dsp.SampleRate {
		return nil
	}
	// The quartiles of Larsen et al. (2024), Table 1, as a lognormal
	// distribution; within a speaker the standard deviation of the logarithm is
	// 0.6 (chosen: long pauses are three times the short ones).
	median := math.Sqrt(0.31*0.61) * math.Exp(rng.NormFloat64()*math.Log(0.61/0.31)/1.349)
	var x []float64
	for i := 0; len(x) < normLength*dsp.SampleRate; i++ {
		clip := clips[i%len(clips)]
		x = append(x, clip...)
		// The clips keep 0.1 s of silence at either end.
		pause := min(max(median*math.Exp(0.6*rng.NormFloat64()), 0.2), 3) - 0.2
		noise := quietest(clip)
		for range int(pause * dsp.SampleRate) {
			x = append(x, noise*rng.NormFloat64())
		}
	}
	return x
}

// quietest is the RMS of the quietest 20 ms of x.
func quietest(x []float64) float64 {
	least := math.Inf(1)
	const n = dsp.SampleRate / 50
	for ; len(x) >= n; x = x[n:] {
		var s float64
		for _, v := range x[:n] {
			s += v * v
		}
		least = min(least, math.Sqrt(s/n))
	}
	return least
}
